#include "schedule/registry/algorithm.hpp"

namespace wherry::schedule {

std::vector<Algorithm> algorithms_of(std::optional<schedule::Operation> operation) {
  std::vector<Algorithm> algorithms;
  if (operation)
    for (const schedule::SegmentStrategy& s : schedule::segment_strategies(*operation))
      algorithms.push_back({.segments = &s});
  else
    for (const schedule::Strategy& s : schedule::strategies()) algorithms.push_back({.exchange = &s});
  return algorithms;
}

}  // namespace wherry::schedule
