#include "choose/way.hpp"

namespace wherry::choose {

std::vector<Way> ways_of(std::optional<plan::Operation> operation) {
  std::vector<Way> ways;
  if (operation)
    for (const plan::SegmentStrategy& s : plan::segment_strategies(*operation))
      ways.push_back({.segments = &s});
  else
    for (const plan::Strategy& s : plan::strategies()) ways.push_back({.exchange = &s});
  return ways;
}

}  // namespace wherry::choose
