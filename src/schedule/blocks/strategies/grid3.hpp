// 3-D grid: three hops, one along each axis. O(cube root of P) messages per rank.
#pragma once

#include "schedule/blocks/families/digits.hpp"

namespace wherry::schedule {

inline Places grid3(int size) {
  const int x = ceil_root(size, 3);
  const int y = ceil_root(ceil_div(size, x), 2);
  Places places;
  places.add_digit(x);
  places.add_digit(y);
  places.add_digit(ceil_div(size, x * y));
  return places;
}

}  // namespace wherry::schedule
