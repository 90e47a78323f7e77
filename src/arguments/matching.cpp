#include "arguments/matching.hpp"

#include <algorithm>
#include <set>

#include "mpi/errors_returned.hpp"

namespace wherry::run {

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
