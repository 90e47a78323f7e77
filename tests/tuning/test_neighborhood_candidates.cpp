// What could run in a neighborhood, and where nothing is worth trying.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/graph/trial_graphs.hpp"
#include "tuning/candidates.hpp"
#include "tuning/shortlist.hpp"

using namespace wherry;
using namespace wherry::tuning;

namespace {

schedule::Graph stencil(std::vector<int> extents) {
  return schedule::Graph(schedule::stencil({.extents = std::move(extents)}));
}

std::vector<std::string> names(const std::vector<AlgorithmCandidate>& candidates) {
  std::vector<std::string> all;
  for (const AlgorithmCandidate& candidate : candidates) all.emplace_back(candidate.algorithm.name());
  return all;
}

}  // namespace

TEST_CASE("Neighbors: few on one node stay native") {
  const schedule::Graph nine = stencil({8, 8}), points27 = stencil({4, 4, 4});
  CHECK_FALSE(is_promising(nine, topology::Placement::spread(64, 1)));
  CHECK(is_promising(nine, topology::Placement::spread(64, 2)));
  CHECK(is_promising(points27, topology::Placement::spread(64, 1)));
  // Edges within nodes only: pairs of ranks.
  const schedule::Graph pairs(schedule::Targets{{1}, {0}, {3}, {2}});
  CHECK_FALSE(is_promising(pairs, topology::Placement::blocked(4, 2)));
  CHECK(is_promising(pairs, topology::Placement::flat(4)));
}

TEST_CASE("Neighbors: what applies is a candidate with its counts") {
  const schedule::Graph graph = stencil({4, 4, 4});
  CHECK(names(survey(graph, topology::Placement::flat(64))) ==
        std::vector<std::string>{"direct", "rounds", "rounds4", "dimensions"});
  const topology::Placement nodes = topology::Placement::blocked(64, 16);
  const std::vector<AlgorithmCandidate> candidates = survey(graph, nodes);
  CHECK(candidates.size() == 6);
  for (const AlgorithmCandidate& candidate : candidates) {
    const model::Cost cost = tuning::cost(candidate, {64, 8}, model::Machine{});
    INFO(candidate.algorithm.name());
    CHECK(cost.seconds > 0);
    if (candidate.algorithm.name() == "direct") {
      CHECK(cost.messages == 26);
      CHECK(cost.bytes == 26 * 8);
    }
    if (candidate.algorithm.name() == "dimensions") CHECK(cost.messages == 6);
    if (candidate.algorithm.name() == "node_aware")
      CHECK(cost.messages_between == 2);  // to the planes on both sides
  }
}

TEST_CASE("Neighbors: small blocks of a stencil are combined, large ones are not") {
  const schedule::Graph graph = stencil({4, 4, 4});
  const topology::Placement placement = topology::Placement::blocked(64, 8);
  const std::vector<AlgorithmCandidate> candidates = survey(graph, placement);
  const auto first = [&](long long bytes) {
    const model::Machine machine;
    const Load load{64, bytes};
    const auto list = shortlist_for(Collective::neighbor_alltoall,
                                    tuning::candidates(estimates(candidates, load, machine), load, machine));
    return schedule::find_neighborhood_strategy(list[1].name)->hops;
  };
  CHECK(first(8) == schedule::Hops::several);
  CHECK(first(1 << 20) == schedule::Hops::single);
}
