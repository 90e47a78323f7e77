// Laws that every strategy of the neighborhood registry obeys, on graphs of all kinds; WHERRY_TEST_SEED changes the
// random ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "schedule/graph/edge_routes.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/graph/trial_graphs.hpp"
#include "seed.hpp"
#include "topology/trial_placements.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;

namespace {

/// Calls law(strategy, routed, graph) for every strategy on every trial graph and placement that it applies to.
template <class Law>
void for_all(int most, Law&& law) {
  std::uint64_t seed = wherry::test::seed_from_environment();
  for (int size = 1; size <= most; ++size)
    for (const TrialGraph& trial : trial_graphs(size, ++seed)) {
      const Graph graph(trial.targets);
      for (const Placement& placement : trial_placements(size))
        for (const Strategy& s : neighborhood_strategies()) {
          const Routed routed(s, graph, placement);
          if (!routed.applies()) continue;
          INFO(s.name, " on ", size, " ranks, ", placement.nodes(), " nodes: ", trial.name);
          law(s, routed, graph);
        }
    }
}

Graph stencil_graph(std::vector<int> extents, bool periodic = true) {
  return Graph(stencil({.extents = std::move(extents), .periodic = periodic}));
}

const Strategy& named(std::string_view name) { return *find_neighborhood_strategy(name); }

int most_messages(const Routed& routed) {
  std::size_t most = 0;
  for (const Schedule& s : routed.schedules()) most = std::max(most, s.sends.size());
  return static_cast<int>(most);
}

long long messages_between(const Routed& routed, const Placement& placement) {
  long long between = 0;
  for (const Schedule& s : routed.schedules())
    between += std::ranges::count_if(s.sends,
                                     [&](const Message& m) { return !placement.same_node(s.rank, m.peer); });
  return between;
}

}  // namespace

TEST_CASE("Neighbors: every edge's block arrives exactly once, and no other") {
  for_all(33, [](const Strategy&, const Routed& routed, const Graph& graph) {
    CHECK_NOTHROW(verify(routed, graph));
  });
}

TEST_CASE("Neighbors: the proof finds what is missing and what is too much") {
  const Placement placement = Placement::flat(4);
  const Graph ring(Targets{{1}, {2}, {3}, {0}}), half(Targets{{1}, {2}, {3}, {}});
  const std::vector<Schedule> all = Routed(named("direct"), ring, placement).schedules();
  const auto proof = [&](const Graph& graph) { verify(all, [&](Block b) { return graph.has(b); }); };
  CHECK_NOTHROW(proof(ring));
  CHECK_THROWS_WITH(proof(half), "block (3->0) is moved, but nobody asked for it");
  CHECK_THROWS_WITH(proof(Graph(Targets{{1, 2}, {2}, {3}, {0}})), "rank 0 never sends block (0->2)");
}

TEST_CASE("Neighbors: those of a single hop send one message to each neighbor and need no staging") {
  for_all(20, [](const Strategy& s, const Routed& routed, const Graph& graph) {
    if (s.hops == Hops::several) return;
    CHECK(routed.most_slots() == 0);
    std::size_t sends = 0;
    for (const Schedule& schedule : routed.schedules()) sends += schedule.sends.size();
    CHECK(sends == graph.edges().size());
  });
}

TEST_CASE("Neighbors: no phase has more items than promised") {
  for_all(20, [](const Strategy& s, const Routed& routed, const Graph&) {
    if (s.hops == Hops::single) return;
    for (const Schedule& schedule : routed.schedules())
      for (const Phase& phase : schedule.phases) {
        int items = 0;
        for (const Message& m : schedule.sends_of(phase)) items += m.count;
        for (const Message& m : schedule.receives_of(phase)) items += m.count;
        CHECK(items <= routed.most_slots());
      }
  });
}

TEST_CASE("Neighbors: nobody sends to two in one round, nor receives from two") {
  std::uint64_t seed = wherry::test::seed_from_environment();
  for (int size = 1; size <= 33; ++size)
    for (const TrialGraph& trial : trial_graphs(size, ++seed)) {
      INFO(size, " ranks: ", trial.name);
      const Graph graph(trial.targets);
      std::map<std::pair<int, int>, int> out, in;
      int rounds = 0, number = 0;
      for (const int round : rounds_of(graph)) {
        const Block edge = graph.edges()[static_cast<std::size_t>(number++)];
        CHECK(++out[{edge.origin, round}] == 1);
        CHECK(++in[{edge.destination, round}] == 1);
        rounds = std::max(rounds, round + 1);
      }
      CHECK(rounds <= std::max(0, 2 * graph.most_neighbors() - 1));
    }
}

TEST_CASE("Neighbors: as many rounds as neighbors where all ranks have the same ones") {
  const auto rounds = [](const Graph& graph) { return std::ranges::max(rounds_of(graph)) + 1; };
  CHECK(rounds(Graph(Targets{{1}, {2}, {0}})) == 1);
  CHECK(rounds(stencil_graph({4, 4, 4})) <=
        30);  // 26 at best: the first free round is not always the right one
}

TEST_CASE("Neighbors: stencils send along the dimensions of their grid") {
  struct Row {
    std::vector<int> extents;
    bool periodic;
    int neighbors, messages;
  };
  const Row rows[] = {{{8, 8}, true, 8, 4},     {{5, 7}, true, 8, 4},      {{4, 6}, false, 8, 4},
                      {{4, 4, 4}, true, 26, 6}, {{3, 5, 4}, true, 26, 6},  {{4, 4, 4}, false, 26, 6},
                      {{2, 4, 4}, true, 17, 5}, {{12, 9, 10}, true, 26, 6}};
  for (const auto& [extents, periodic, neighbors, messages] : rows) {
    const Graph graph = stencil_graph(extents, periodic);
    const Placement placement = Placement::flat(graph.size());
    INFO(graph.size(), " ranks");
    CHECK(graph.most_neighbors() == neighbors);
    const Routed routed(named("dimensions"), graph, placement);
    REQUIRE(routed.applies());
    CHECK(most_messages(routed) == messages);
  }
  const Graph reach_two(stencil({.extents = {8, 8}}, 2));
  const Placement placement = Placement::flat(64);
  CHECK(most_messages(Routed(named("dimensions"), reach_two, placement)) <= 8);  // instead of 24
}

TEST_CASE("Neighbors: no grid where there is nothing to combine") {
  const Placement placement = Placement::flat(16);
  const Graph cross(Targets(16, std::vector<int>{}));
  CHECK_FALSE(Routed(named("dimensions"), cross, placement).applies());
  Targets ring;
  for (int rank = 0; rank < 16; ++rank) ring.push_back({(rank + 1) % 16, (rank + 15) % 16});
  CHECK_FALSE(Routed(named("dimensions"), Graph(ring), placement).applies());
}

TEST_CASE("Neighbors: one message from node to node") {
  const Graph graph = stencil_graph({8, 8});
  const Placement placement = Placement::blocked(64, 16);  // two rows each: above and below
  CHECK(messages_between(Routed(named("direct"), graph, placement), placement) == 4 * 2 * 8 * 3);
  for (const char* name : {"node_aware", "leader"})
    CHECK(messages_between(Routed(named(name), graph, placement), placement) == 4 * 2);
}

TEST_CASE("Neighbors: a graph is what its edges are") {
  const Graph graph(Targets{{1, 1, 0, 2}, {2}, {}, {3}});
  CHECK(std::vector<Block>(graph.edges().begin(), graph.edges().end()) ==
        std::vector<Block>{{0, 1}, {0, 2}, {1, 2}});
  CHECK(graph.most_neighbors() == 2);
  CHECK(graph.has({0, 2}));
  CHECK_FALSE(graph.has({2, 0}));
  CHECK_FALSE(graph.has({0, 0}));
  CHECK_FALSE(graph.is_connected());
  CHECK(stencil_graph({3, 3}).is_connected());
  CHECK(graph == Graph(Targets{{2, 1}, {2}, {}, {}}));
  CHECK(graph.signature() == Graph(Targets{{2, 1}, {2}, {}, {}}).signature());
  CHECK(graph.signature() != Graph(Targets{{2, 1}, {2}, {}, {0}}).signature());
  CHECK_THROWS_WITH_AS(Graph(Targets{{0}, {2}}),
                       "rank 1 has neighbor 2, but there are ranks 0 to 1 only; name one of them",
                       wherry::usage_error);
}

TEST_CASE("Peers: blocks of repeated neighbors travel in the sender's order") {
  const std::vector<int> neighbors = {2, nobody, 0, 2, 2};
  CHECK(peers_of(neighbors, plain_order(5)) == std::vector<Peer>{{0, {2}}, {2, {0, 3, 4}}});
  CHECK(peers_of(neighbors, std::vector{7, -1, 0, 1, 3}) == std::vector<Peer>{{0, {2}}, {2, {3, 4, 0}}});
  CHECK(has_repeated(neighbors));
  CHECK_FALSE(has_repeated(std::vector{nobody, nobody, 1, 0}));
  CHECK(peers_of({}, {}).empty());
}

TEST_CASE("Stencils: neighbors beyond a border are nobody") {
  const Torus grid{.extents = {2, 3}, .periodic = false};
  CHECK(grid.neighbor(0, {0, 1}) == 1);
  CHECK(grid.neighbor(0, {1, 0}) == 3);
  CHECK(grid.neighbor(0, {-1, 0}) == nobody);
  CHECK(Torus{.extents = {2, 3}}.neighbor(0, {-1, -1}) == 5);
  CHECK(stencil(grid)[0] == std::vector<int>{1, 3, 4});
}

TEST_CASE("Neighborhood strategies: on the complete graph they are the all-to-all's of the same name") {
  int compared = 0;
  for (int size = 2; size <= 24; ++size) {
    std::vector<std::vector<int>> everybody(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
      for (int peer = 0; peer < size; ++peer)
        if (peer != rank) everybody[static_cast<std::size_t>(rank)].push_back(peer);
    const Graph complete(everybody);
    for (const Placement& placement : trial_placements(size))
      for (const Strategy& s : neighborhood_strategies()) {
        if (!s.is_for_alltoalls() || !s.applies(placement)) continue;
        const Routed routed(s, complete, placement);
        INFO(s.name, " on ", size, " ranks, ", placement.nodes(), " nodes");
        REQUIRE(routed.applies());
        for (int rank = 0; rank < size; ++rank) CHECK(routed.schedule(rank) == s.schedule(placement, rank));
        ++compared;
      }
  }
  CHECK(compared > 100);
}
