#include "arguments/blocks.hpp"

#include <numeric>

namespace wherry::run {

namespace {

const void* at(const void* base, long long offset) {
  // Through integers: the base may be MPI_BOTTOM, whose displacements are absolute addresses.
  return reinterpret_cast<const void*>(reinterpret_cast<MPI_Aint>(base) + static_cast<MPI_Aint>(offset));
}

/// No type is as good as one without data. A rank that has no data must not leave the others alone because it gives no
/// type for it: it counts the call as they do, does its part, and hears what the library says (runtime.cpp,
/// block_collectives.cpp).
datatype::TypeFacts facts_of(const mpi::Api& api, MPI_Datatype type, datatype::TypeMemory& memory) {
  return type == MPI_DATATYPE_NULL ? datatype::TypeFacts{} : memory.facts_of(api, type);
}

/// One block as MPI describes it; false if the count or the type is not legal.
bool set(Share& share, const void* address, long long count, MPI_Datatype type,
         const datatype::TypeFacts& facts) {
  const bool typed = type != MPI_DATATYPE_NULL;
  if (count < 0 || facts.size < 0 || (!typed && count != 0)) return false;
  share = {
      .region = {address, count, typed ? type : MPI_BYTE}, .bytes = count * facts.size, .dense = facts.dense};
  return true;
}

void prepare(Blocks& blocks, const void* sendbuf, MPI_Comm comm, int size) {
  blocks.comm = comm;
  blocks.in_place = sendbuf == MPI_IN_PLACE;
  blocks.untyped = false;
  blocks.typed = false;
  blocks.send.resize(blocks.in_place ? 0 : static_cast<std::size_t>(size));
  blocks.receive.resize(static_cast<std::size_t>(size));
}

}  // namespace

bool read_equal(const mpi::Api& api, const void* base, long long count, MPI_Datatype type,
                datatype::TypeMemory& memory, std::vector<Share>& shares) {
  if (shares.empty()) return true;
  const datatype::TypeFacts facts = facts_of(api, type, memory);
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (!set(shares[i], at(base, static_cast<long long>(i) * count * facts.extent), count, type, facts))
      return false;
  return true;
}

bool read_vector(const mpi::Api& api, const void* base, Numbers counts, Numbers displacements,
                 MPI_Datatype type, datatype::TypeMemory& memory, std::vector<Share>& shares) {
  if (shares.empty()) return true;
  if (counts.empty() || displacements.empty()) return false;
  const datatype::TypeFacts facts = facts_of(api, type, memory);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const int peer = static_cast<int>(i);
    if (!set(shares[i], at(base, displacements[peer] * facts.extent), counts[peer], type, facts))
      return false;
  }
  return true;
}

bool read_typed(const mpi::Api& api, const void* base, Numbers counts, Numbers displacements,
                const MPI_Datatype* types, datatype::TypeMemory& memory, std::vector<Share>& shares) {
  if (shares.empty()) return true;
  if (types == nullptr || counts.empty() || displacements.empty()) return false;
  MPI_Datatype last = MPI_DATATYPE_NULL;
  datatype::TypeFacts facts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const int peer = static_cast<int>(i);
    if (counts[peer] == 0) {
      // The type need not exist then: MPICH accepts MPI_DATATYPE_NULL, and other ranks cannot see it.
      shares[i] = {.region = {base, 0, MPI_BYTE}, .bytes = 0, .dense = true};
      continue;
    }
    if (types[i] == MPI_DATATYPE_NULL) return false;
    if (types[i] != last) facts = memory.facts_of(api, last = types[i]);
    if (!set(shares[i], at(base, displacements[peer]), counts[peer], types[i], facts)) return false;
  }
  return true;
}

long long Blocks::bytes_sent() const {
  const std::vector<Share>& shares = in_place ? receive : send;
  return std::accumulate(shares.begin(), shares.end(), 0LL,
                         [](long long sum, const Share& s) { return sum + s.bytes; });
}

void read_blocks(const mpi::Api& api, const Alltoall& c, int size, Blocks& blocks) {
  prepare(blocks, c.sendbuf, c.comm, size);
  blocks.valid =
      (blocks.in_place || read_equal(api, c.sendbuf, c.sendcount, c.sendtype, blocks.types, blocks.send)) &&
      read_equal(api, c.recvbuf, c.recvcount, c.recvtype, blocks.types, blocks.receive);
}

void read_blocks(const mpi::Api& api, const Alltoallv& c, int size, Blocks& blocks) {
  prepare(blocks, c.sendbuf, c.comm, size);
  blocks.valid =
      (blocks.in_place ||
       read_vector(api, c.sendbuf, c.sendcounts, c.sdispls, c.sendtype, blocks.types, blocks.send)) &&
      read_vector(api, c.recvbuf, c.recvcounts, c.rdispls, c.recvtype, blocks.types, blocks.receive);
  blocks.untyped = c.recvtype == MPI_DATATYPE_NULL || (!blocks.in_place && c.sendtype == MPI_DATATYPE_NULL);
}

void read_blocks(const mpi::Api& api, const Alltoallw& c, int size, Blocks& blocks) {
  prepare(blocks, c.sendbuf, c.comm, size);
  blocks.typed = true;
  blocks.valid =
      (blocks.in_place ||
       read_typed(api, c.sendbuf, c.sendcounts, c.sdispls, c.sendtypes, blocks.types, blocks.send)) &&
      read_typed(api, c.recvbuf, c.recvcounts, c.rdispls, c.recvtypes, blocks.types, blocks.receive);
}

}  // namespace wherry::run
