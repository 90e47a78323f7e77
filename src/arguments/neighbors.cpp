#include "arguments/neighbors.hpp"

#include <algorithm>
#include <set>

#include "mpi/errors_returned.hpp"

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

namespace {

/// A call in which every block is one number. One more than there are, for MPICH wants buffers where nothing moves.
struct Numbered {
  explicit Numbered(const Topology& t)
      : out(schedule::plain_order(t.targets.size() + 1)),
        places(schedule::plain_order(t.sources.size() + 1)),
        in(places.size(), -1),
        ones(std::max(out.size(), in.size()), 1),
        types(ones.size(), MPI_INT) {
    for (std::size_t i = 0; i < ones.size(); ++i) bytes.push_back(static_cast<MPI_Aint>(i * sizeof(int)));
  }

  int perform(const mpi::Api& api, MPI_Comm comm, Collective collective) {
    switch (collective) {
      case Collective::neighbor_alltoall: return alltoall(api, comm);
      case Collective::neighbor_alltoallw: return alltoallw(api, comm);
      default: return alltoallv(api, comm);
    }
  }

  int alltoall(const mpi::Api& api, MPI_Comm comm) {
    return api.Neighbor_alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  }
  int alltoallv(const mpi::Api& api, MPI_Comm comm) {
    return api.Neighbor_alltoallv(out.data(), ones.data(), out.data(), MPI_INT, in.data(), ones.data(),
                                  places.data(), MPI_INT, comm);
  }
  int alltoallw(const mpi::Api& api, MPI_Comm comm) {
    return api.Neighbor_alltoallw(out.data(), ones.data(), bytes.data(), types.data(), in.data(), ones.data(),
                                  bytes.data(), types.data(), comm);
  }

  std::vector<int> out, places;
  std::vector<int> in;  // the sender's number of each block that has arrived; -1 where none has
  std::vector<int> ones;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
};

/// Whether every block is another one.
bool makes_sense(const Topology& t, const std::vector<int>& heard) {
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = 0; i < t.sources.size(); ++i)
    if (t.sources[i] != schedule::nobody && (heard[i] < 0 || !seen.insert({t.sources[i], heard[i]}).second))
      return false;
  return true;
}

Ports ports_of(const Topology& t, const std::vector<int>& order) {
  return {schedule::peers_of(t.targets, schedule::plain_order(t.targets.size())),
          schedule::peers_of(t.sources, order)};
}

}  // namespace

Ports plain_ports(const Topology& topology) {
  return ports_of(topology, schedule::plain_order(topology.sources.size()));
}

std::optional<Ports> asked_ports(const mpi::Api& api, MPI_Comm comm, Collective collective,
                                 const Topology& topology) {
  const ErrorsReturned returned(comm, api);
  Numbered call(topology);
  if (call.perform(api, comm, collective) != MPI_SUCCESS || !makes_sense(topology, call.in))
    return std::nullopt;
  return ports_of(topology, call.in);
}

}  // namespace wherry::run
