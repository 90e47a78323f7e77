// Nested loops over blocks, in the order that suits memory.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "layout/kernels.hpp"
#include "layout/pack_plan.hpp"

namespace wherry::layout {

/// Loops of both sides over the same blocks, the outermost first; more levels than fit are not expressed.
class LoopNest {
 public:
  static constexpr std::size_t most_levels = 16;

  explicit LoopNest(Offset bytes) : bytes_(bytes) {}

  Offset bytes() const { return bytes_; }
  std::span<const Loop> loops() const { return {loops_.data(), count_}; }
  bool push(const Loop& loop);  // innermost; false: it does not fit

  /// Runs all loops; blocks of `to` must not overlap.
  void run(std::byte* to, const std::byte* from, const Kernels& kernels);

 private:
  void arrange();

  std::array<Loop, most_levels> loops_;
  std::size_t count_ = 0;
  Offset bytes_;
};

/// The loops that copy all data of `from` to those of `to`, of one size; nothing if their levels do not fit together.
std::optional<LoopNest> joint(const Nest& to, const Nest& from);

}  // namespace wherry::layout
