#include "layout/nest_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace wherry::layout {
namespace {

/// How far apart blocks are on the side where they are farther.
Offset distance(const Loop& loop) { return std::max(std::abs(loop.to), std::abs(loop.from)); }

void run_loops(std::span<const Loop> loops, std::byte* to, const std::byte* from, Offset bytes,
               const Kernels& kernels) {
  constexpr Loop once{1, 0, 0};
  if (loops.empty()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (loops.size() == 1) {
    kernels.loops(to, from, once, loops[0], bytes);
  } else if (loops.size() == 2) {
    kernels.loops(to, from, loops[0], loops[1], bytes);
  } else {
    for (Offset i = 0; i < loops[0].count; ++i)
      run_loops(loops.subspan(1), to + i * loops[0].to, from + i * loops[0].from, bytes, kernels);
  }
}

/// Blocks side by side on one side, whatever they are on the other.
bool is_unit(const Loop& loop, Offset bytes) { return loop.to == bytes || loop.from == bytes; }

}  // namespace

bool LoopNest::push(const Loop& loop) {
  if (count_ == most_levels) return false;
  loops_[count_++] = loop;
  return true;
}

/// The innermost loops: where one side's neighbors are far apart on the other and the reverse, both of these, which
/// is a transpose; else the innermost of the data, and above it the one of the shortest distance.
void LoopNest::arrange() {
  if (count_ < 3) return;
  const auto last = loops_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
  auto beside = std::find_if(loops_.begin(), last, [&](const Loop& x) { return is_unit(x, bytes_); });
  if (beside == last || !is_unit(*last, bytes_))
    beside = std::min_element(loops_.begin(), last,
                              [](const Loop& a, const Loop& b) { return distance(a) < distance(b); });
  std::rotate(beside, beside + 1, last);
}

void LoopNest::run(std::byte* to, const std::byte* from, const Kernels& kernels) {
  arrange();
  run_loops(loops(), to, from, bytes_, kernels);
}

namespace {

/// The levels of one side, of which the innermost are used up first; below them come the block's own bytes.
class Side {
 public:
  Side(const Nest& nest, Offset bytes) : levels_(nest.levels) {
    if (nest.bytes > bytes) levels_.push_back({nest.bytes / bytes, bytes});
  }
  bool done() const { return levels_.empty(); }
  Offset count() const { return levels_.back().count; }
  /// The stride of the innermost `count` of the innermost level, which must divide it.
  Offset take(Offset count) {
    Level& level = levels_.back();
    const Offset stride = level.stride;
    level.count /= count;
    level.stride *= count;
    if (level.count == 1) levels_.pop_back();
    return stride;
  }

 private:
  std::vector<Level> levels_;
};

bool divides(Offset a, Offset b) { return b % a == 0; }

}  // namespace

std::optional<LoopNest> joint(const Nest& to, const Nest& from) {
  const Offset bytes = std::min(to.bytes, from.bytes);
  if (!divides(bytes, to.bytes) || !divides(bytes, from.bytes)) return std::nullopt;
  Side to_side(to, bytes), from_side(from, bytes);
  std::vector<Loop> innermost_first;
  while (!to_side.done() && !from_side.done()) {
    const Offset count = std::min(to_side.count(), from_side.count());
    if (!divides(count, to_side.count()) || !divides(count, from_side.count())) return std::nullopt;
    const Offset to_stride = to_side.take(count), from_stride = from_side.take(count);
    innermost_first.push_back({count, to_stride, from_stride});
  }
  LoopNest nest(bytes);
  for (std::size_t i = innermost_first.size(); i > 0; --i)
    if (!nest.push(innermost_first[i - 1])) return std::nullopt;
  return nest;
}

}  // namespace wherry::layout
