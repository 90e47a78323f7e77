// Repetition in a list of items: the smallest period of the whole, and runs within it.
#pragma once

#include <cstddef>
#include <span>

#include "layout/layout.hpp"

namespace wherry::layout {

/// Something at a displacement; items with the same shape differ in that alone.
struct PlacedShape {
  Offset displacement;
  std::int64_t shape;
};

/// The smallest p < n that divides n such that items i and i + p are alike and equally far apart for all i; else n.
std::size_t smallest_period(std::span<const PlacedShape> items);

struct Run {
  std::size_t period = 1, repeats = 1;
};

/// What repeats at the beginning of the items, with a period of at most 4: the first that repeats 8 times. Shorter
/// runs would cut random lists into pieces.
Run leading_run(std::span<const PlacedShape> items);

}  // namespace wherry::layout
