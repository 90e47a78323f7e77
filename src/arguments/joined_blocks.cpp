#include "arguments/joined_blocks.hpp"

#include <algorithm>
#include <climits>

#include "comm/channel.hpp"
#include "datatype/large_count.hpp"

namespace wherry::run {

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

  int add(const Region& region) {
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
  int with_length(const Region& region, const Use& use) {
    if (region.count <= INT_MAX) return use(static_cast<int>(region.count), region.type);
    MPI_Datatype repeated = MPI_DATATYPE_NULL;
    const int code = repeat_type(api_, region.count, region.type, INT_MAX, &repeated);
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
