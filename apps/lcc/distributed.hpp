// The graph over all ranks, and its check in one.
#pragma once

#include <mpi.h>

#include <string>

#include "lcc/graph.hpp"
#include "lcc/rmat.hpp"

namespace lcc {

/// A graph of which every rank has a part.
struct Distributed {
  MPI_Comm comm;
  Partition partition;
  Part mine;
};

/// Collective.
Distributed drawn(const Rmat& graph, MPI_Comm comm);
/// Rank 0 has the list; the others' is not looked at. Collective.
Distributed distributed(const EdgeList& graph, MPI_Comm comm);

/// How long the lists of all neighbors of all vertices are: what a check would read. Collective.
std::uint64_t work(const Distributed& graph);

/// What is wrong with the links of all vertices, told on all ranks; empty if nothing. Rank 0 counts them alone.
/// Collective.
std::string problem_of(const Distributed& graph, const std::vector<std::uint64_t>& links);

}  // namespace lcc
