// Hypercube (dimensional exchange): one hop per binary digit in which origin and destination differ.
// ceil(log2 P) messages per rank, each of about P/2 blocks.
#pragma once

#include "plan/families/digits.hpp"

namespace wherry::plan {

inline Places hypercube(int size) {
  Places places;
  while (places.last() < size) places.add_digit(2);
  return places;
}

}  // namespace wherry::plan
