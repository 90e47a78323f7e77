// Bruck: one hop per digit of the distance from origin to destination, in radix r.
// About (r - 1) log_r P messages per rank, each of about P/r blocks: a small radix for few messages, a large
// one for few copies. After Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 8(11), 1997.
#pragma once

#include "schedule/blocks/families/digits.hpp"

namespace wherry::schedule {

template <int radix>
Places bruck(int size) {
  Places places;
  while (places.last() < size) places.add_digit(radix);
  return places;
}

}  // namespace wherry::schedule
