#include "lcc/distributed.hpp"

#include <algorithm>
#include <numeric>

#include "lcc/coefficient.hpp"
#include "remote/exchange.hpp"
#include "support/mpi/comm.hpp"

namespace lcc {
namespace {

std::vector<int> count_by_owner(const std::vector<Edge>& edges, const Partition& partition) {
  std::vector<int> counts(static_cast<std::size_t>(partition.ranks));
  for (const Edge& edge : edges) ++counts[static_cast<std::size_t>(partition.owner(edge.from))];
  return counts;
}

/// The edges that this rank knows, wherever they belong. Collective.
Distributed settled(std::vector<Edge> edges, std::uint64_t vertices, MPI_Comm comm) {
  const Partition partition{static_cast<Vertex>(vertices), apps::size_of(comm)};
  edges = both_ways(edges);
  // The order of their first vertices is that of the ranks where they belong.
  std::ranges::sort(edges);
  const std::vector<Edge> mine = remote::exchanged(edges, count_by_owner(edges, partition), comm);
  const int rank = apps::rank_of(comm);
  const Vertex first = partition.first(rank);
  return {comm, partition, part_of(mine, first, partition.first(rank + 1) - first)};
}

/// All of the graph, on all ranks. Collective.
Part whole(const Distributed& graph) {
  std::vector<std::uint64_t> degrees(graph.mine.vertices());
  for (Vertex v = 0; v < graph.mine.vertices(); ++v) degrees[v] = graph.mine.list(v).size();
  degrees = remote::gathered(degrees, graph.comm);
  Part all{.first = 0, .offsets = {0}, .neighbors = remote::gathered(graph.mine.neighbors, graph.comm)};
  all.offsets.resize(degrees.size() + 1);
  std::partial_sum(degrees.begin(), degrees.end(), all.offsets.begin() + 1);
  return all;
}

}  // namespace

Distributed drawn(const Rmat& graph, MPI_Comm comm) {
  const auto rank = static_cast<std::uint64_t>(apps::rank_of(comm));
  const auto ranks = static_cast<std::uint64_t>(apps::size_of(comm));
  const std::uint64_t first = graph.edges() * rank / ranks, end = graph.edges() * (rank + 1) / ranks;
  return settled(draw(graph, first, end - first), graph.vertices(), comm);
}

Distributed distributed(const EdgeList& graph, MPI_Comm comm) {
  std::uint64_t vertices = graph.vertices;
  MPI_Bcast(&vertices, 1, MPI_UINT64_T, 0, comm);
  return settled(apps::rank_of(comm) == 0 ? graph.edges : std::vector<Edge>{}, vertices, comm);
}

std::uint64_t work(const Distributed& graph) {
  std::uint64_t mine = 0;
  for (Vertex v = 0; v < graph.mine.vertices(); ++v) {
    const std::uint64_t degree = graph.mine.list(v).size();
    mine += degree * degree;
  }
  return apps::reduced(mine, MPI_SUM, graph.comm);
}

std::string problem_of(const Distributed& graph, const std::vector<std::uint64_t>& links) {
  const Part all = whole(graph);
  int wrong = -1;
  if (apps::rank_of(graph.comm) == 0) {
    const std::vector<std::uint64_t> right = links_by_marking(all);
    const auto [found, expected] = std::ranges::mismatch(links, right);
    if (found != links.end()) wrong = static_cast<int>(found - links.begin());
  }
  MPI_Bcast(&wrong, 1, MPI_INT, 0, graph.comm);
  return wrong < 0
             ? ""
             : "vertex " + std::to_string(wrong) + " has another coefficient when one rank counts alone";
}

}  // namespace lcc
