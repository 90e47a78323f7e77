#include "arguments/neighborhood_call.hpp"

#include <algorithm>
#include <climits>

#include "comm/channel.hpp"
#include "datatype/large_count.hpp"

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

namespace {

/// A type of several regions, as MPI_Type_create_struct takes them. Places are bytes from the first region on.
class Regions {
 public:
  explicit Regions(const mpi::Api& api) : api_(api) {}
  ~Regions() {
    for (MPI_Datatype& type : repeated_) api_.Type_free(&type);
  }
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  int add(const datatype::Region& region) {
    if (lengths_.empty()) first_ = reinterpret_cast<MPI_Aint>(region.address);
    return with_length(region, [&](int length, MPI_Datatype type) {
      lengths_.push_back(length);
      places_.push_back(reinterpret_cast<MPI_Aint>(region.address) - first_);
      types_.push_back(type);
      return MPI_SUCCESS;
    });
  }

  int make(MPI_Datatype* made) {
    const int code = api_.Type_create_struct(static_cast<int>(types_.size()), lengths_.data(), places_.data(),
                                             types_.data(), made);
    return code == MPI_SUCCESS ? api_.Type_commit(made) : code;
  }

 private:
  template <class Use>
  int with_length(const datatype::Region& region, const Use& use) {
    if (region.count <= INT_MAX) return use(static_cast<int>(region.count), region.type);
    MPI_Datatype repeated = MPI_DATATYPE_NULL;
    const int code = datatype::repeat_type(api_, region.count, region.type, INT_MAX, &repeated);
    if (code != MPI_SUCCESS) return code;
    repeated_.push_back(repeated);
    return use(1, repeated);
  }

  const mpi::Api& api_;
  MPI_Aint first_ = 0;
  std::vector<int> lengths_;
  std::vector<MPI_Aint> places_;
  std::vector<MPI_Datatype> types_, repeated_;
};

}  // namespace

Joined::Joined(const mpi::Api& api, const NeighborCall& call, const Ports& ports, int size, int rank,
               Blocks& blocks)
    : api_(api) {
  const auto self = static_cast<std::size_t>(rank);
  blocks.send.resize(static_cast<std::size_t>(size));
  blocks.receive.resize(static_cast<std::size_t>(size));
  blocks.send[self] = blocks.receive[self] = {};  // where it is no neighbor of itself
  fill(call.send, ports.targets, blocks.send);
  fill(call.receive, ports.sources, blocks.receive);
}

Joined::~Joined() {
  for (MPI_Datatype& type : types_) api_.Type_free(&type);
}

void Joined::fill(const std::vector<Share>& shares, const std::vector<schedule::Peer>& peers,
                  std::vector<Share>& to) {
  for (const schedule::Peer& peer : peers)
    to[static_cast<std::size_t>(peer.rank)] = peer.numbers.size() == 1
                                                  ? shares[static_cast<std::size_t>(peer.numbers.front())]
                                                  : join(shares, peer.numbers);
}

/// If there is no type, the type stays MPI_DATATYPE_NULL: the channel sends an empty message, which the peer counts on.
Share Joined::join(const std::vector<Share>& shares, const std::vector<int>& numbers) {
  Regions regions(api_);
  long long bytes = 0;
  int code = MPI_SUCCESS;
  for (const int number : numbers) {
    const Share& part = shares[static_cast<std::size_t>(number)];
    if (part.bytes == 0) continue;
    bytes += part.bytes;
    code = first_error(code, regions.add(part.region));
  }
  if (bytes == 0) return {};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  code = first_error(code, code == MPI_SUCCESS ? regions.make(&type) : code);
  if (type != MPI_DATATYPE_NULL) types_.push_back(type);
  code_ = first_error(code_, code);
  const auto first =
      std::ranges::find_if(numbers, [&](int n) { return shares[static_cast<std::size_t>(n)].bytes > 0; });
  const void* const address = shares[static_cast<std::size_t>(*first)].region.address;
  return {.region = {address, 1, type}, .bytes = bytes, .dense = false};
}

}  // namespace wherry::run
