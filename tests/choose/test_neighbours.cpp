// What is offered in a neighbourhood, and where nothing is worth trying.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "choose/neighbours.hpp"
#include "choose/shortlist.hpp"
#include "plan/neighbours/trial_graphs.hpp"

using namespace wherry;
using namespace wherry::choose;

namespace {

plan::Graph stencil(std::vector<int> extents) {
  return plan::Graph(plan::stencil({.extents = std::move(extents)}));
}

std::vector<std::string> names(const std::vector<Offer>& offers) {
  std::vector<std::string> all;
  for (const Offer& offer : offers) all.emplace_back(offer.way.name());
  return all;
}

}  // namespace

TEST_CASE("Neighbours: few on one node are left to the library") {
  const plan::Graph nine = stencil({8, 8}), points27 = stencil({4, 4, 4});
  CHECK_FALSE(is_promising(nine, plan::Shape::spread(64, 1)));
  CHECK(is_promising(nine, plan::Shape::spread(64, 2)));
  CHECK(is_promising(points27, plan::Shape::spread(64, 1)));
  // Edges within nodes only: pairs of ranks.
  const plan::Graph pairs(plan::Targets{{1}, {0}, {3}, {2}});
  CHECK_FALSE(is_promising(pairs, plan::Shape::blocked(4, 2)));
  CHECK(is_promising(pairs, plan::Shape::flat(4)));
}

TEST_CASE("Neighbours: what applies is offered with its counts") {
  const plan::Graph graph = stencil({4, 4, 4});
  CHECK(names(survey(graph, plan::Shape::flat(64))) ==
        std::vector<std::string>{"direct", "rounds", "rounds4", "dimensions"});
  const plan::Shape nodes = plan::Shape::blocked(64, 16);
  const std::vector<Offer> offers = survey(graph, nodes);
  CHECK(offers.size() == 6);
  for (const Offer& offer : offers) {
    const plan::Cost cost = choose::cost(offer, {64, 8}, plan::Machine{});
    INFO(offer.way.name());
    CHECK(cost.seconds > 0);
    if (offer.way.name() == "direct") {
      CHECK(cost.messages == 26);
      CHECK(cost.bytes == 26 * 8);
    }
    if (offer.way.name() == "dimensions") CHECK(cost.messages == 6);
    if (offer.way.name() == "node_aware") CHECK(cost.messages_between == 2);  // to the planes on both sides
  }
}

TEST_CASE("Neighbours: small blocks of a stencil are combined, large ones are not") {
  const plan::Graph graph = stencil({4, 4, 4});
  const plan::Shape shape = plan::Shape::blocked(64, 8);
  const std::vector<Offer> offers = survey(graph, shape);
  const auto first = [&](long long bytes) {
    const plan::Machine machine;
    const Load load{64, bytes};
    const auto list = shortlist_for(Collective::neighbor_alltoall,
                                    candidates(priced(offers, load, machine), load, machine));
    return plan::find_neighbour_strategy(list[1].name)->hops;
  };
  CHECK(first(8) == plan::Hops::several);
  CHECK(first(1 << 20) == plan::Hops::single);
}
