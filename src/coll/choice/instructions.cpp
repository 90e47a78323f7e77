#include "coll/choice/instructions.hpp"

#include <algorithm>
#include <iterator>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::run {

namespace {

constexpr std::string_view automatic_name = "auto";

Instruction instruction_for(std::string_view name) {
  if (name == automatic_name) return {Instruction::Kind::learn};
  if (name == native_name) return {Instruction::Kind::native};
  return {Instruction::Kind::named, std::string(name)};
}

std::vector<Instruction> own_instructions(const Settings& settings) {
  std::vector<Instruction> own;
  std::ranges::transform(settings.strategies, std::back_inserter(own), instruction_for);
  return own;
}

std::vector<Instruction> possible_instructions() {
  std::vector<Instruction> all = {instruction_for(automatic_name), instruction_for(native_name)};
  for (const schedule::Strategy& s : schedule::block_strategies()) all.push_back(instruction_for(s.name));
  for (const schedule::SegmentStrategy& s : schedule::segment_strategies())
    all.push_back(instruction_for(s.name));
  return all;
}

}  // namespace

Instructions::Instructions(const Settings& settings)
    : own_(own_instructions(settings)), possible_(possible_instructions()) {}

bool Instructions::force(std::string_view name) {
  const auto row = std::ranges::find(possible_, instruction_for(name));
  if (row == possible_.end()) return false;
  const bool by_settings = row->kind == Instruction::Kind::learn;
  forced_.store(by_settings ? nullptr : &*row, std::memory_order_release);
  return true;
}

}  // namespace wherry::run
