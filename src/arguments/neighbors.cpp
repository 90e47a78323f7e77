#include "arguments/neighbors.hpp"

#include <algorithm>

namespace wherry::run {

namespace {

Topology cartesian(const mpi::Api& api, MPI_Comm comm) {
  Topology t;
  int dimensions = 0;
  t.known = api.Cartdim_get(comm, &dimensions) == MPI_SUCCESS;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    t.known = t.known && api.Cart_shift(comm, d, 1, &below, &above) == MPI_SUCCESS;
    t.sources.insert(t.sources.end(), {below, above});
  }
  t.targets = t.sources;
  return t;
}

Topology graph(const mpi::Api& api, MPI_Comm comm) {
  Topology t;
  int rank = 0, count = 0;
  api.Comm_rank(comm, &rank);
  if (api.Graph_neighbors_count(comm, rank, &count) != MPI_SUCCESS) return t;
  t.sources.resize(static_cast<std::size_t>(count));
  t.known = api.Graph_neighbors(comm, rank, count, t.sources.data()) == MPI_SUCCESS;
  t.targets = t.sources;
  return t;
}

Topology distributed_graph(const mpi::Api& api, MPI_Comm comm) {
  Topology t;
  int in = 0, out = 0, weighted = 0;
  if (api.Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return t;
  t.sources.resize(static_cast<std::size_t>(in));
  t.targets.resize(static_cast<std::size_t>(out));
  std::vector<int> in_weights(t.sources.size() + 1), out_weights(t.targets.size() + 1);
  t.known = api.Dist_graph_neighbors(comm, in, t.sources.data(), in_weights.data(), out, t.targets.data(),
                                     out_weights.data()) == MPI_SUCCESS;
  return t;
}

int kind_of(const mpi::Api& api, MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  api.Topo_test(comm, &kind);
  return kind;
}

}  // namespace

bool has_topology(const mpi::Api& api, MPI_Comm comm) { return kind_of(api, comm) != MPI_UNDEFINED; }

Topology topology_of(const mpi::Api& api, MPI_Comm comm) {
  const int kind = kind_of(api, comm);
  Topology t;
  if (kind == MPI_CART) t = cartesian(api, comm);
  if (kind == MPI_GRAPH) t = graph(api, comm);
  if (kind == MPI_DIST_GRAPH) t = distributed_graph(api, comm);
  std::ranges::replace(t.sources, int{MPI_PROC_NULL}, schedule::nobody);
  std::ranges::replace(t.targets, int{MPI_PROC_NULL}, schedule::nobody);
  return t;
}

}  // namespace wherry::run
