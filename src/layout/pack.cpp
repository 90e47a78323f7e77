#include "layout/pack.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "layout/nest_copy.hpp"

namespace wherry::layout {
namespace {

/// From memory to packed bytes.
struct Packing {
  using Memory = const std::byte*;
  using Packed = std::byte*;
  static constexpr Loop loop(Offset count, Offset memory, Offset packed) { return {count, packed, memory}; }
  static void block(Memory memory, Packed packed, Offset bytes) {
    std::memcpy(packed, memory, static_cast<std::size_t>(bytes));
  }
  static void loops(const Kernels& k, Memory memory, Packed packed, Loop outer, Loop inner, Offset bytes) {
    k.loops(packed, memory, outer, inner, bytes);
  }
  static void nest(const Kernels& k, Memory memory, Packed packed, LoopNest& nest) {
    nest.run(packed, memory, k);
  }
  static void blocks(const Kernels& k, Memory memory, Packed packed, const ByteBlock* blocks, Offset count) {
    k.gather_blocks(packed, memory, blocks, count);
  }
  template <class D>
  static void indexed(const IndexedKernels<D>& k, Memory memory, Packed packed, const D* displacements,
                      Offset count, Offset bytes, Reach reach) {
    k.gather(packed, memory, displacements, count, bytes, reach);
  }
};

/// From packed bytes to memory.
struct Unpacking {
  using Memory = std::byte*;
  using Packed = const std::byte*;
  static constexpr Loop loop(Offset count, Offset memory, Offset packed) { return {count, memory, packed}; }
  static void block(Memory memory, Packed packed, Offset bytes) {
    std::memcpy(memory, packed, static_cast<std::size_t>(bytes));
  }
  static void loops(const Kernels& k, Memory memory, Packed packed, Loop outer, Loop inner, Offset bytes) {
    k.loops(memory, packed, outer, inner, bytes);
  }
  static void nest(const Kernels& k, Memory memory, Packed packed, LoopNest& nest) {
    nest.run(memory, packed, k);
  }
  static void blocks(const Kernels& k, Memory memory, Packed packed, const ByteBlock* blocks, Offset count) {
    k.scatter_blocks(memory, packed, blocks, count);
  }
  template <class D>
  static void indexed(const IndexedKernels<D>& k, Memory memory, Packed packed, const D* displacements,
                      Offset count, Offset bytes, Reach reach) {
    k.scatter(memory, packed, displacements, count, bytes, reach);
  }
};

template <class Direction>
class Transfer {
 public:
  using Memory = typename Direction::Memory;
  using Packed = typename Direction::Packed;

  explicit Transfer(const Kernels& kernels) : kernels_(kernels) {}

  /// Bytes [begin, end) of the step's data; `packed` is where byte `begin` is.
  void run(const PlannedStep& step, Memory memory, Packed packed, DataRange range) const {
    if (range.begin < range.end)
      std::visit([&](const auto& x) { perform(x, step, memory, packed, range); }, step.kind);
  }

 private:
  /// A range of elements of one size as an incomplete one, complete ones and an incomplete one:
  /// one(i, range within it, packed) and several(i, count, packed).
  template <class One, class Several>
  static void split(Offset size, DataRange range, Packed packed, const One& one, const Several& several) {
    Offset first = range.begin / size;
    const Offset last = range.end / size, ragged = range.begin - first * size;
    if (ragged != 0) {
      const Offset end = std::min(range.end - first * size, size);
      one(first, DataRange{ragged, end}, packed);
      packed += end - ragged;
      ++first;
    }
    if (last > first) {
      several(first, last - first, packed);
      packed += (last - first) * size;
    }
    if (last >= first && range.end > last * size) one(last, DataRange{0, range.end - last * size}, packed);
  }

  void perform(const Nest& x, const PlannedStep& step, Memory memory, Packed packed, DataRange range) const {
    nest(x.levels, x.bytes, step.size, memory, packed, range);
  }

  /// `size`: of all levels together.
  void nest(std::span<const Level> levels, Offset bytes, Offset size, Memory memory, Packed packed,
            DataRange range) const {
    if (levels.empty()) return Direction::block(memory + range.begin, packed, range.end - range.begin);
    const Level& level = levels[0];
    const Offset element = size / level.count;
    split(
        element, range, packed,
        [&](Offset i, DataRange part, Packed at) {
          nest(levels.subspan(1), bytes, element, memory + i * level.stride, at, part);
        },
        [&](Offset i, Offset count, Packed at) {
          whole_nest(levels, bytes, element, count, memory + i * level.stride, at);
        });
  }

  /// `count` elements of the outermost level.
  void whole_nest(std::span<const Level> levels, Offset bytes, Offset element, Offset count, Memory memory,
                  Packed packed) const {
    if (levels.size() > LoopNest::most_levels) {
      for (Offset i = 0; i < count; ++i)
        nest(levels.subspan(1), bytes, element, memory + i * levels[0].stride, packed + i * element,
             DataRange{0, element});
      return;
    }
    LoopNest loops(bytes);
    loops.push(Direction::loop(count, levels[0].stride, element));
    for (const Level& level : levels.subspan(1)) {
      element /= level.count;
      loops.push(Direction::loop(level.count, level.stride, element));
    }
    Direction::nest(kernels_, memory, packed, loops);
  }

  void perform(const EqualBlocks& x, const PlannedStep& step, Memory memory, Packed packed,
               DataRange range) const {
    if (x.wide.empty())
      equal(kernels_.indexed_32, x.narrow.data(), x.bytes, step.reach, memory, packed, range);
    else equal(kernels_.indexed_64, x.wide.data(), x.bytes, step.reach, memory, packed, range);
  }

  template <class D>
  static void equal(const IndexedKernels<D>& kernels, const D* displacements, Offset bytes, Reach reach,
                    Memory memory, Packed packed, DataRange range) {
    split(
        bytes, range, packed,
        [&](Offset i, DataRange part, Packed at) {
          Direction::block(memory + displacements[i] + part.begin, at, part.end - part.begin);
        },
        [&](Offset i, Offset count, Packed at) {
          Direction::indexed(kernels, memory, at, displacements + i, count, bytes, reach);
        });
  }

  void perform(const UnequalBlocks& x, const PlannedStep&, Memory memory, Packed packed,
               DataRange range) const {
    unequal(x, memory, packed, range);
  }

  void unequal(const UnequalBlocks& x, Memory memory, Packed packed, DataRange range) const {
    const auto index_of = [&](Offset at) {
      return static_cast<std::size_t>(std::ranges::upper_bound(x.before, at) - x.before.begin()) - 1;
    };
    std::size_t i = index_of(range.begin);
    if (range.begin > x.before[i]) {
      const DataRange part{range.begin - x.before[i], std::min(x.blocks[i].bytes, range.end - x.before[i])};
      Direction::block(memory + x.blocks[i].displacement + part.begin, packed, part.end - part.begin);
      packed += part.end - part.begin;
      if (++i == x.blocks.size() || range.end <= x.before[i]) return;
    }
    const bool all = range.end == x.before.back() + x.blocks.back().bytes;
    const std::size_t last = all ? x.blocks.size() : index_of(range.end);
    Direction::blocks(kernels_, memory, packed, x.blocks.data() + i, static_cast<Offset>(last - i));
    if (!all)
      Direction::block(memory + x.blocks[last].displacement, packed + (x.before[last] - x.before[i]),
                       range.end - x.before[last]);
  }

  void perform(const Records& x, const PlannedStep&, Memory memory, Packed packed, DataRange range) const {
    split(
        x.bytes, range, packed,
        [&](Offset i, DataRange part, Packed at) {
          unequal(x.fields, memory + i * x.level.stride, at, part);
        },
        [&](Offset i, Offset count, Packed at) { records(x, count, memory + i * x.level.stride, at); });
  }

  /// Field by field, as many elements at a time as the first-level cache holds.
  void records(const Records& x, Offset count, Memory memory, Packed packed) const {
    constexpr Offset cached = 8 << 10;
    const Offset reach = std::max<Offset>(std::abs(x.level.stride), x.bytes);
    const Offset stretch = std::max<Offset>(cached / reach, 16);
    for (Offset i = 0; i < count; i += stretch) {
      const Offset elements = std::min(stretch, count - i);
      for (std::size_t f = 0; f < x.fields.blocks.size(); ++f)
        Direction::loops(kernels_, memory + i * x.level.stride + x.fields.blocks[f].displacement,
                         packed + i * x.bytes + x.fields.before[f], Loop{1, 0, 0},
                         Direction::loop(elements, x.level.stride, x.bytes), x.fields.blocks[f].bytes);
    }
  }

  void perform(const RepeatedStep& x, const PlannedStep&, Memory memory, Packed packed,
               DataRange range) const {
    const Offset size = x.element->size;
    split(
        size, range, packed,
        [&](Offset i, DataRange part, Packed at) { run(*x.element, memory + i * x.level.stride, at, part); },
        [&](Offset i, Offset count, Packed at) {
          for (Offset k = 0; k < count; ++k)
            run(*x.element, memory + (i + k) * x.level.stride, at + k * size, {0, size});
        });
  }

  void perform(const StepSequence& x, const PlannedStep&, Memory memory, Packed packed,
               DataRange range) const {
    const auto found = std::ranges::upper_bound(x.before, range.begin) - 1;
    for (auto i = static_cast<std::size_t>(found - x.before.begin()); range.begin < range.end; ++i) {
      const Offset skipped = range.begin - x.before[i];
      const Offset bytes = std::min(x.steps[i]->size - skipped, range.end - range.begin);
      run(*x.steps[i], memory + x.displacements[i], packed, {skipped, skipped + bytes});
      packed += bytes;
      range.begin += bytes;
    }
  }

  const Kernels& kernels_;
};

}  // namespace

void pack(const PackPlan& plan, const std::byte* memory, std::byte* packed, DataRange range,
          const Kernels& kernels) {
  Transfer<Packing>(kernels).run(plan.step(), memory + plan.displacement(), packed, range);
}

void unpack(const PackPlan& plan, std::byte* memory, const std::byte* packed, DataRange range,
            const Kernels& kernels) {
  Transfer<Unpacking>(kernels).run(plan.step(), memory + plan.displacement(), packed, range);
}

void copy(const PackPlan& to_plan, std::byte* to, const PackPlan& from_plan, const std::byte* from,
          const Kernels& kernels) {
  const Offset size = std::min(to_plan.size(), from_plan.size());
  if (to_plan.is_block()) return pack(from_plan, from, to + to_plan.displacement(), {0, size}, kernels);
  if (from_plan.is_block()) return unpack(to_plan, to, from + from_plan.displacement(), {0, size}, kernels);
  const auto* to_nest = std::get_if<Nest>(&to_plan.step().kind);
  const auto* from_nest = std::get_if<Nest>(&from_plan.step().kind);
  if (to_nest != nullptr && from_nest != nullptr && to_plan.size() == from_plan.size())
    if (std::optional<LoopNest> nest = joint(*to_nest, *from_nest))
      return nest->run(to + to_plan.displacement(), from + from_plan.displacement(), kernels);
  constexpr Offset chunk = 4 << 10;
  std::byte buffer[chunk];
  for (Offset at = 0; at < size; at += chunk) {
    const DataRange range{at, std::min(at + chunk, size)};
    pack(from_plan, from, buffer, range, kernels);
    unpack(to_plan, to, buffer, range, kernels);
  }
}

}  // namespace wherry::layout
