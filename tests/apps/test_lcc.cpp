#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "lcc/coefficient.hpp"
#include "lcc/lists.hpp"
#include "lcc/rmat.hpp"
#include "remote_ranks.hpp"

using namespace lcc;

namespace {

Part whole(const EdgeList& graph) { return part_of(both_ways(graph.edges), 0, graph.vertices); }

EdgeList rmat(int scale, std::uint64_t seed) {
  const Rmat graph{.scale = scale, .edge_factor = 8, .seed = seed};
  return {static_cast<Vertex>(graph.vertices()), draw(graph, 0, graph.edges())};
}

/// By every pair of neighbors.
double brute_force(const Part& graph, Vertex vertex) {
  const auto list = graph.list(vertex);
  double pairs = 0, linked = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = i + 1; j < list.size(); ++j) {
      pairs += 1;
      linked += std::ranges::count(graph.list(list[i]), list[j]);
    }
  return pairs == 0 ? 0 : linked / pairs;
}

/// The links of all vertices, counted by ranks that read each other's parts.
std::vector<std::uint64_t> links_on(int ranks, const EdgeList& graph, std::size_t batch) {
  const Partition partition{graph.vertices, ranks};
  const std::vector<Edge> edges = both_ways(graph.edges);
  std::vector<Part> parts;
  std::vector<std::vector<std::uint64_t>> offsets;
  std::vector<std::vector<Vertex>> neighbors;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Edge> mine;
    std::ranges::copy_if(edges, std::back_inserter(mine),
                         [&](const Edge& e) { return partition.owner(e.from) == rank; });
    const Vertex first = partition.first(rank);
    parts.push_back(part_of(mine, first, partition.first(rank + 1) - first));
    offsets.push_back(parts.back().offsets);
    neighbors.push_back(parts.back().neighbors);
  }
  std::vector<std::uint64_t> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto first = remote_test::reader(remote_test::memories(offsets));
    const auto second = remote_test::reader(remote_test::memories(neighbors));
    const Part& mine = parts[static_cast<std::size_t>(rank)];
    Lists lists(partition, rank, mine, {*first, *second});
    std::ranges::copy(links(mine, lists, batch), std::back_inserter(all));
  }
  return all;
}

}  // namespace

TEST_CASE("lcc: what two lists have in common") {
  constexpr unsigned seed = 11;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Vertex> a, b, both;
    for (std::vector<Vertex>* list : {&a, &b}) {
      const std::size_t length = random() % (round % 3 == 0 ? 300 : 5);
      for (std::size_t i = 0; i < length; ++i) list->push_back(static_cast<Vertex>(random() % 400));
      std::ranges::sort(*list);
      list->erase(std::ranges::unique(*list).begin(), list->end());
    }
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    CAPTURE(round);
    REQUIRE(common(a, b) == both.size());
    REQUIRE(common(b, a) == both.size());
  }
}

TEST_CASE("lcc: coefficients of graphs that can be drawn") {
  const auto coefficients = [](const EdgeList& graph) {
    const Part part = whole(graph);
    const std::vector<std::uint64_t> found = links_on(1, graph, 1);
    std::vector<double> all;
    for (Vertex v = 0; v < graph.vertices; ++v) all.push_back(coefficient(found[v], part.list(v).size()));
    return all;
  };
  const EdgeList four = {4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
  CHECK(coefficients(four) == std::vector<double>{1, 1, 1, 1});
  const EdgeList without_one = {4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}};
  CHECK(coefficients(without_one) == std::vector<double>{2.0 / 3, 2.0 / 3, 1, 1});
  const EdgeList path = {4, {{0, 1}, {1, 2}}};
  CHECK(coefficients(path) == std::vector<double>{0, 0, 0, 0});
  // Loops, repetitions and directions change nothing.
  const EdgeList repeated = {3, {{0, 1}, {1, 0}, {1, 1}, {2, 1}, {2, 1}, {0, 2}}};
  CHECK(coefficients(repeated) == std::vector<double>{1, 1, 1});
  CHECK(coefficients({0, {}}).empty());
}

TEST_CASE("lcc: ranks that read each other's lists find what every pair of neighbors says") {
  for (const int scale : {0, 1, 5, 8}) {
    const EdgeList graph = rmat(scale, 5);
    const Part part = whole(graph);
    const std::vector<std::uint64_t> alone = links_by_marking(part);
    for (Vertex v = 0; v < graph.vertices; ++v)
      REQUIRE(coefficient(alone[v], part.list(v).size()) ==
              doctest::Approx(brute_force(part, v)).epsilon(1e-14));
    for (const int ranks : {1, 2, 3, 5, 300})
      for (const std::size_t batch : {1U, 7U, 1000U}) {
        CAPTURE(scale);
        CAPTURE(ranks);
        CAPTURE(batch);
        CHECK(links_on(ranks, graph, batch) == alone);
      }
  }
}

TEST_CASE("lcc: every vertex has one owner, in order, and parts are even") {
  for (const Vertex vertices : {1U, 2U, 7U, 64U, 1000U})
    for (const int ranks : {1, 2, 3, 8, 100}) {
      const Partition partition{vertices, ranks};
      CAPTURE(vertices);
      CAPTURE(ranks);
      CHECK(partition.first(0) == 0);
      CHECK(partition.first(ranks) == vertices);
      for (int rank = 0; rank < ranks; ++rank) {
        const Vertex first = partition.first(rank), end = partition.first(rank + 1);
        CHECK(end - first <= vertices / static_cast<Vertex>(ranks) + 1);
        for (Vertex v = first; v < end; ++v) REQUIRE(partition.owner(v) == rank);
      }
    }
}

TEST_CASE("lcc: R-MAT graphs are the same whoever draws them, have hubs, and differ by seed") {
  const Rmat graph{.scale = 10, .edge_factor = 16, .seed = 3};
  std::vector<Edge> together = draw(graph, 0, 1000);
  for (const Edge& edge : draw(graph, 1000, graph.edges() - 1000)) together.push_back(edge);
  const std::vector<Edge> at_once = draw(graph, 0, graph.edges());
  CHECK(together == at_once);
  CHECK(draw({.scale = 10, .edge_factor = 16, .seed = 4}, 0, graph.edges()) != at_once);
  std::vector<std::size_t> degrees(graph.vertices());
  for (const Edge& edge : at_once) {
    REQUIRE(edge.from < graph.vertices());
    REQUIRE(edge.to < graph.vertices());
    ++degrees[edge.from];
  }
  // The mean is 16; with these quarters a hub has (0.76 / 0.5)^10 = 66 times as many.
  const std::size_t most = std::ranges::max(degrees);
  CHECK(most > 16 * 40);
  CHECK(most < 16 * 100);
  // Scrambling is a bijection: some vertices at least of each quarter of the numbers are drawn.
  for (std::size_t quarter = 0; quarter < 4; ++quarter)
    CHECK(std::ranges::count(std::span(degrees).subspan(quarter * 256, 256), 0U) < 200);
}
