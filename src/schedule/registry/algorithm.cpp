#include "schedule/registry/algorithm.hpp"

namespace wherry::schedule {

std::vector<Algorithm> algorithms_of(std::optional<schedule::Operation> operation) {
  std::vector<Algorithm> ways;
  if (operation)
    for (const schedule::SegmentStrategy& s : schedule::segment_strategies(*operation))
      ways.push_back({.segments = &s});
  else
    for (const schedule::Strategy& s : schedule::strategies()) ways.push_back({.exchange = &s});
  return ways;
}

}  // namespace wherry::schedule
