// The radices of strategies that correct one digit of a mixed-radix number per phase (families/digits.hpp).
#pragma once

#include "schedule/blocks/families/digits.hpp"

namespace wherry::schedule {

/// Mesh: two hops, through the rank in my row and the destination's column.
/// O(sqrt P) messages per rank.
inline Places mesh(int size) {
  const int columns = ceil_root(size, 2);
  Places places;
  places.add_digit(columns);
  places.add_digit(ceil_div(size, columns));
  return places;
}

/// 3-D grid: three hops, one along each axis. O(cube root of P) messages per rank.
inline Places grid3(int size) {
  const int x = ceil_root(size, 3);
  const int y = ceil_root(ceil_div(size, x), 2);
  Places places;
  places.add_digit(x);
  places.add_digit(y);
  places.add_digit(ceil_div(size, x * y));
  return places;
}

/// Hypercube (dimensional exchange): one hop per binary digit in which origin and destination differ.
/// ceil(log2 P) messages per rank, each of about P/2 blocks.
inline Places hypercube(int size) {
  Places places;
  while (places.last() < size) places.add_digit(2);
  return places;
}

/// Bruck: one hop per digit of the distance from origin to destination, in radix r.
/// About (r - 1) log_r P messages per rank, each of about P/r blocks: a small radix for few messages, a large
/// one for few copies. After Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 8(11), 1997.
template <int radix>
Places bruck(int size) {
  Places places;
  while (places.last() < size) places.add_digit(radix);
  return places;
}

}  // namespace wherry::schedule
