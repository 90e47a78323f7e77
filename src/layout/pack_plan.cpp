#include "layout/pack_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace wherry::layout {
namespace {

constexpr Offset far_bytes = Offset{1} << 20;  // about what a second-level cache holds
constexpr std::size_t most_fields = 32;

using Kind = decltype(PlannedStep::kind);

StepPtr step_for(const Layout& layout);

UnequalBlocks unequal(std::vector<ByteBlock> blocks) {
  UnequalBlocks made{std::move(blocks), {}};
  made.before.reserve(made.blocks.size());
  Offset sum = 0;
  for (const ByteBlock& b : made.blocks) {
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

/// Blocks that are multiples of one length. Neighbors that the canonical form has merged may be elements of one size:
/// a copy of a known length is faster than one of any length, up to twice as many of them.
struct Group {
  std::size_t begin, end;
  Offset common, size;
};

/// The longest group from block `begin` on.
Group group_from(const std::vector<ByteBlock>& blocks, std::size_t begin) {
  Group group{begin, begin, 0, 0};
  for (; group.end < blocks.size(); ++group.end) {
    const Offset bytes = blocks[group.end].bytes, common = std::gcd(group.common, bytes);
    if ((group.size + bytes) / common > 2 * static_cast<Offset>(group.end - begin + 1)) break;
    group.common = common;
    group.size += bytes;
  }
  return group;
}

EqualBlocks equal_of(const std::vector<ByteBlock>& blocks, const Group& group) {
  std::vector<Offset> displacements;
  displacements.reserve(static_cast<std::size_t>(group.size / group.common));
  for (std::size_t i = group.begin; i < group.end; ++i)
    for (Offset at = 0; at < blocks[i].bytes; at += group.common)
      displacements.push_back(blocks[i].displacement + at);
  return equal(std::move(displacements), group.common);
}

Reach reach_of(const Layout& layout) {
  return layout->end() - layout->begin() > far_bytes ? Reach::far : Reach::near;
}

/// Groups of 16 blocks and more on average, or all as they are.
Kind blocks_kind(const Layout& layout, const std::vector<ByteBlock>& blocks) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < blocks.size(); i = groups.back().end) {
    groups.push_back(group_from(blocks, i));
    if (groups.size() > 1 + blocks.size() / 16) return unequal(blocks);
  }
  if (groups.size() == 1) return equal_of(blocks, groups[0]);
  StepSequence made;
  Offset sum = 0;
  for (const Group& group : groups) {
    made.displacements.push_back(0);
    made.before.push_back(sum);
    made.steps.push_back(std::make_shared<const PlannedStep>(
        PlannedStep{equal_of(blocks, group), group.size, reach_of(layout)}));
    sum += group.size;
  }
  return made;
}

/// The few blocks of an element that is repeated; empty if it is none.
std::vector<ByteBlock> fields_of(const Layout& element) {
  if (element->blocks() > static_cast<Offset>(most_fields)) return {};
  std::vector<ByteBlock> fields;
  each_block(element, 0, [&](Offset at, Offset bytes) { fields.push_back({at, bytes}); });
  return fields;
}

Kind repetition(const Level& level, const Layout& element) {
  constexpr Offset few = 8;
  if (std::vector<ByteBlock> fields = fields_of(element); !fields.empty() && level.count >= few)
    return Records{level, unequal(std::move(fields)), element->size()};
  return RepeatedStep{level, step_for(element)};
}

Kind kind_of(const Layout& layout, const Strided& x) {
  Peeled peeled = peel(layout);
  if (const auto* block = std::get_if<Dense>(&peeled.rest->kind()))
    return Nest{std::move(peeled.levels), block->bytes};
  return repetition({x.count, x.stride}, x.block);
}

Kind kind_of(const Layout&, const Dense& x) { return Nest{{}, x.bytes}; }

Kind sequence(const std::vector<PlacedLayout>& parts) {
  StepSequence made;
  Offset sum = 0;
  for (const PlacedLayout& p : parts) {
    made.displacements.push_back(p.displacement);
    made.before.push_back(sum);
    made.steps.push_back(step_for(p.layout));
    sum += p.layout->size();
  }
  return made;
}

Kind kind_of(const Layout&, const IndexedBlock& x) {
  if (const auto* block = std::get_if<Dense>(&x.block->kind())) return equal(x.displacements, block->bytes);
  StepSequence made;
  const StepPtr step = step_for(x.block);
  made.displacements = x.displacements;
  made.steps.assign(x.displacements.size(), step);
  for (std::size_t i = 0; i < x.displacements.size(); ++i)
    made.before.push_back(static_cast<Offset>(i) * x.block->size());
  return made;
}

Kind kind_of(const Layout& layout, const Indexed& x) { return blocks_kind(layout, x.blocks); }

Kind kind_of(const Layout&, const Concat& x) { return sequence(x.parts); }

StepPtr step_for(const Layout& layout) {
  return std::make_shared<const PlannedStep>(
      PlannedStep{std::visit([&](const auto& x) { return kind_of(layout, x); }, layout->kind()),
                  layout->size(), reach_of(layout)});
}

}  // namespace

PackPlan::PackPlan(const PlacedLayout& canonical)
    : form_(canonical),
      begin_(canonical.displacement + canonical.layout->begin()),
      end_(canonical.displacement + canonical.layout->end()),
      step_(step_for(canonical.layout)) {}

bool PackPlan::is_block() const { return std::holds_alternative<Dense>(form_.layout->kind()); }

}  // namespace wherry::layout
