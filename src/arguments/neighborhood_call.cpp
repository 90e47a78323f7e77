#include "arguments/neighborhood_call.hpp"

#include <algorithm>

namespace wherry::run {

namespace {

/// false: there is nothing to read the call by, or it is in place, which these collectives do not know.
bool prepare(const Topology& topology, const void* sendbuf, NeighborCall& read) {
  read.send.resize(topology.targets.size());
  read.receive.resize(topology.sources.size());
  return topology.known && sendbuf != MPI_IN_PLACE;
}

/// One block for all targets.
bool read_shared(const mpi::Api& api, const void* base, long long count, MPI_Datatype type,
                 NeighborCall& read) {
  std::vector<Share> block(std::min<std::size_t>(1, read.send.size()));
  if (!read_equal(api, base, count, type, read.types, block)) return false;
  for (Share& share : read.send) share = block.front();
  return true;
}

}  // namespace

long long NeighborCall::bytes_sent(const Topology& topology) const {
  long long sum = 0;
  for (std::size_t i = 0; i < send.size(); ++i)
    if (topology.targets[i] != schedule::nobody) sum += send[i].bytes;
  return sum;
}

bool read_neighbors(const mpi::Api& api, const NeighborAlltoall& c, const Topology& topology,
                    NeighborCall& read) {
  return prepare(topology, c.sendbuf, read) &&
         read_equal(api, c.sendbuf, c.sendcount, c.sendtype, read.types, read.send) &&
         read_equal(api, c.recvbuf, c.recvcount, c.recvtype, read.types, read.receive);
}

bool read_neighbors(const mpi::Api& api, const NeighborAlltoallv& c, const Topology& topology,
                    NeighborCall& read) {
  return prepare(topology, c.sendbuf, read) &&
         read_vector(api, c.sendbuf, c.sendcounts, c.sdispls, c.sendtype, read.types, read.send) &&
         read_vector(api, c.recvbuf, c.recvcounts, c.rdispls, c.recvtype, read.types, read.receive);
}

bool read_neighbors(const mpi::Api& api, const NeighborAlltoallw& c, const Topology& topology,
                    NeighborCall& read) {
  return prepare(topology, c.sendbuf, read) &&
         read_typed(api, c.sendbuf, c.sendcounts, c.sdispls, c.sendtypes, read.types, read.send) &&
         read_typed(api, c.recvbuf, c.recvcounts, c.rdispls, c.recvtypes, read.types, read.receive);
}

bool read_neighbors(const mpi::Api& api, const NeighborAllgather& c, const Topology& topology,
                    NeighborCall& read) {
  return prepare(topology, c.sendbuf, read) && read_shared(api, c.sendbuf, c.sendcount, c.sendtype, read) &&
         read_equal(api, c.recvbuf, c.recvcount, c.recvtype, read.types, read.receive);
}

bool read_neighbors(const mpi::Api& api, const NeighborAllgatherv& c, const Topology& topology,
                    NeighborCall& read) {
  return prepare(topology, c.sendbuf, read) && read_shared(api, c.sendbuf, c.sendcount, c.sendtype, read) &&
         read_vector(api, c.recvbuf, c.recvcounts, c.displs, c.recvtype, read.types, read.receive);
}

}  // namespace wherry::run
