// Mesh: two hops, through the rank in my row and the destination's column.
// O(sqrt P) messages per rank.
#pragma once

#include "schedule/blocks/families/digits.hpp"

namespace wherry::schedule {

inline Places mesh(int size) {
  const int columns = ceil_root(size, 2);
  Places places;
  places.add_digit(columns);
  places.add_digit(ceil_div(size, columns));
  return places;
}

}  // namespace wherry::schedule
