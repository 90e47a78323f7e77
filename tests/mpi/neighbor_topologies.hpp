// Topologies to test on, with an oracle that asks no MPI library: who is whose neighbor, and which block meets which.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/graph/graph.hpp"
#include "schedule/graph/trial_graphs.hpp"

namespace wherry::test {

/// A block that a rank receives: it is block `number` of the send buffer of `rank`; of nobody, none comes.
struct Origin {
  int rank;
  int number;
};

/// A communicator whose ranks have neighbors, as every rank computes them for all.
struct Neighbors {
  std::string name;
  std::vector<std::vector<int>> targets, sources;  // by rank; schedule::nobody for MPI_PROC_NULL
  std::function<MPI_Comm(MPI_Comm)> create;
  bool cartesian = false;

  /// What block i of rank's receive buffer is (MPI 4.1, 8.6): in a Cartesian topology, what the neighbor on that side
  /// sends to the opposite side; else the k-th block between two ranks is the k-th.
  Origin origin_of(int rank, std::size_t i) const {
    const std::vector<int>& mine = sources[static_cast<std::size_t>(rank)];
    const int from = mine[i];
    if (from == schedule::nobody) return {schedule::nobody, 0};
    if (cartesian) return {from, static_cast<int>(i ^ 1)};
    auto left = std::count(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(i), from);
    const std::vector<int>& theirs = targets[static_cast<std::size_t>(from)];
    int number = 0;
    while (theirs[static_cast<std::size_t>(number)] != rank || left-- > 0) ++number;
    return {from, number};
  }
};

inline Neighbors cartesian(std::vector<int> extents, bool periodic) {
  const schedule::Torus torus{.extents = extents, .periodic = periodic};
  Neighbors n{
      .name = periodic ? "periodic grid" : "grid with borders", .targets = {}, .sources = {}, .create = {}};
  for (const int extent : extents) n.name += " " + std::to_string(extent);
  for (int rank = 0; rank < torus.size(); ++rank) {
    std::vector<int>& mine = n.targets.emplace_back();
    for (std::size_t d = 0; d < extents.size(); ++d)
      for (const int step : {-1, 1}) {
        std::vector<int> steps(extents.size(), 0);
        steps[d] = step;
        mine.push_back(torus.neighbor(rank, steps));
      }
  }
  n.sources = n.targets;
  n.cartesian = true;
  n.create = [extents = std::move(extents), periodic](MPI_Comm comm) {
    const std::vector<int> periods(extents.size(), periodic ? 1 : 0);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Cart_create(comm, static_cast<int>(extents.size()), extents.data(), periods.data(), 0, &made);
    return made;
  };
  return n;
}

/// sources: those who send to each rank, in the order of their ranks, or, `reversed`, in the opposite one.
inline Neighbors distributed_graph(std::string name, std::vector<std::vector<int>> targets, bool reversed) {
  Neighbors n{.name = std::move(name), .targets = std::move(targets), .sources = {}, .create = {}};
  n.sources.resize(n.targets.size());
  for (std::size_t rank = 0; rank < n.targets.size(); ++rank)
    for (const int to : n.targets[rank])
      n.sources[static_cast<std::size_t>(to)].push_back(static_cast<int>(rank));
  if (reversed)
    for (std::vector<int>& each : n.sources) std::ranges::reverse(each);
  n.create = [targets = n.targets, sources = n.sources](MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::vector<int>&out = targets[static_cast<std::size_t>(rank)],
          &in = sources[static_cast<std::size_t>(rank)];
    // Weights, and room for one at least: Open MPI takes an empty array for MPI_UNWEIGHTED.
    std::vector<int> in_weights(in.size() + 1, 1), out_weights(out.size() + 1, 1);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(comm, static_cast<int>(in.size()), in.data(), in_weights.data(),
                                   static_cast<int>(out.size()), out.data(), out_weights.data(),
                                   MPI_INFO_NULL, 0, &made);
    return made;
  };
  return n;
}

/// By MPI_Graph_create: every rank with the ranks next to it, twice with the one after it.
inline Neighbors general_graph(int size) {
  Neighbors n{.name = "general graph", .targets = {}, .sources = {}, .create = {}};
  for (int rank = 0; rank < size; ++rank) {
    const int after = (rank + 1) % size, before = (rank + size - 1) % size;
    n.targets.push_back({after, before, rank, after, before});
  }
  n.sources = n.targets;
  n.create = [targets = n.targets](MPI_Comm comm) {
    std::vector<int> ends, edges;
    for (const std::vector<int>& each : targets) {
      edges.insert(edges.end(), each.begin(), each.end());
      ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Graph_create(comm, static_cast<int>(ends.size()), ends.data(), edges.data(), 0, &made);
    return made;
  };
  return n;
}

/// Grids of one to three dimensions, the two-rank periodic ones among them, and graphs of all kinds.
inline std::vector<Neighbors> topologies(int size, std::uint64_t seed) {
  std::vector<Neighbors> all;
  for (const bool periodic : {true, false})
    for (const int dimensions : {1, 2, 3}) {
      std::vector<int> extents(static_cast<std::size_t>(dimensions), 0);
      MPI_Dims_create(size, dimensions, extents.data());
      all.push_back(cartesian(extents, periodic));
    }
  all.push_back(general_graph(size));
  bool reversed = false;
  for (schedule::TrialGraph& trial : schedule::trial_graphs(size, seed))
    all.push_back(distributed_graph(trial.name, std::move(trial.targets), reversed = !reversed));
  return all;
}

}  // namespace wherry::test
