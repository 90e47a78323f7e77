#include "layout/plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace wherry::layout {
namespace {

constexpr Offset far_bytes = Offset{1} << 20;  // about what a second-level cache holds
constexpr std::size_t most_fields = 32;

using Kind = decltype(PlannedStep::kind);

Step step_for(const Layout& layout);

UnequalBlocks unequal(std::vector<Block> blocks) {
  UnequalBlocks made{std::move(blocks), {}};
  made.before.reserve(made.blocks.size());
  Offset sum = 0;
  for (const Block& b : made.blocks) {
    made.before.push_back(sum);
    sum += b.bytes;
  }
  return made;
}

bool fits_narrow(const std::vector<Offset>& displacements) {
  const auto [least, most] = std::ranges::minmax(displacements);
  return least >= std::numeric_limits<std::int32_t>::min() &&
         most <= std::numeric_limits<std::int32_t>::max();
}

EqualBlocks equal(std::vector<Offset> displacements, Offset bytes) {
  if (!fits_narrow(displacements)) return {{}, std::move(displacements), bytes};
  return {{displacements.begin(), displacements.end()}, {}, bytes};
}

/// The levels of nested strides; empty counts end where something else begins.
struct Peeled {
  std::vector<Level> levels;
  Layout rest;
};

Peeled peel(Layout layout) {
  Peeled peeled;
  while (const auto* x = std::get_if<Strided>(&layout->kind())) {
    peeled.levels.push_back({x->count, x->stride});
    layout = x->block;
  }
  peeled.rest = layout;
  return peeled;
}

/// Neighbors that the canonical form has merged may be elements of one size: a copy of a known length is faster than one of
/// any length, up to twice as many of them.
Kind blocks_kind(const std::vector<Block>& blocks, Offset size) {
  Offset common = 0;
  for (const Block& b : blocks) common = std::gcd(common, b.bytes);
  if (common < 4 || size / common > 2 * static_cast<Offset>(blocks.size())) return unequal(blocks);
  std::vector<Offset> displacements;
  displacements.reserve(static_cast<std::size_t>(size / common));
  for (const Block& b : blocks)
    for (Offset at = 0; at < b.bytes; at += common) displacements.push_back(b.displacement + at);
  return equal(std::move(displacements), common);
}

/// The few blocks of an element that is repeated; empty if it is none.
std::vector<Block> fields_of(const Layout& element) {
  if (element->blocks() > static_cast<Offset>(most_fields)) return {};
  std::vector<Block> fields;
  each_block(element, 0, [&](Offset at, Offset bytes) { fields.push_back({at, bytes}); });
  return fields;
}

Kind repetition(const Level& level, const Layout& element) {
  constexpr Offset few = 8;
  if (std::vector<Block> fields = fields_of(element); !fields.empty() && level.count >= few)
    return Records{level, unequal(std::move(fields)), element->size()};
  return Repetition{level, step_for(element)};
}

Kind kind_of(const Layout& layout, const Strided& x) {
  Peeled peeled = peel(layout);
  if (const auto* block = std::get_if<Dense>(&peeled.rest->kind()))
    return Nest{std::move(peeled.levels), block->bytes};
  return repetition({x.count, x.stride}, x.block);
}

Kind kind_of(const Layout&, const Dense& x) { return Nest{{}, x.bytes}; }

Kind sequence(const std::vector<Part>& parts) {
  Sequence made;
  Offset sum = 0;
  for (const Part& p : parts) {
    made.displacements.push_back(p.displacement);
    made.before.push_back(sum);
    made.steps.push_back(step_for(p.layout));
    sum += p.layout->size();
  }
  return made;
}

Kind kind_of(const Layout&, const IndexedBlock& x) {
  if (const auto* block = std::get_if<Dense>(&x.block->kind())) return equal(x.displacements, block->bytes);
  Sequence made;
  const Step step = step_for(x.block);
  made.displacements = x.displacements;
  made.steps.assign(x.displacements.size(), step);
  for (std::size_t i = 0; i < x.displacements.size(); ++i)
    made.before.push_back(static_cast<Offset>(i) * x.block->size());
  return made;
}

Kind kind_of(const Layout& layout, const Indexed& x) { return blocks_kind(x.blocks, layout->size()); }

Kind kind_of(const Layout&, const Concat& x) { return sequence(x.parts); }

Step step_for(const Layout& layout) {
  const Reach reach = layout->end() - layout->begin() > far_bytes ? Reach::far : Reach::near;
  return std::make_shared<const PlannedStep>(PlannedStep{
      std::visit([&](const auto& x) { return kind_of(layout, x); }, layout->kind()), layout->size(), reach});
}

}  // namespace

Plan::Plan(const Part& canonical)
    : form_(canonical),
      begin_(canonical.displacement + canonical.layout->begin()),
      end_(canonical.displacement + canonical.layout->end()),
      step_(step_for(canonical.layout)) {}

bool Plan::is_block() const { return std::holds_alternative<Dense>(form_.layout->kind()); }

}  // namespace wherry::layout
