// Hypercube (dimensional exchange): one hop per binary digit in which origin and destination differ.
// ceil(log2 P) messages per rank, each of about P/2 blocks.
#pragma once

#include "schedule/blocks/families/digits.hpp"

namespace wherry::schedule {

inline Places hypercube(int size) {
  Places places;
  while (places.last() < size) places.add_digit(2);
  return places;
}

}  // namespace wherry::schedule
