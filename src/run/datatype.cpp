#include "run/datatype.hpp"

#include <cstring>

#include "mpi/envelope.hpp"

namespace wherry::run {

namespace {

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/// Whether a type made of `inner` elements one after the other is dense because they are.
bool repeats_dense(const mpi::Api& api, MPI_Datatype type, const mpi::Envelope& envelope) {
  if (envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP) return false;
  MPI_Datatype inner = mpi::inner_of(api, type, envelope);
  if (inner == MPI_DATATYPE_NULL) return false;
  const TypeFacts facts = facts_of(api, inner);
  if (!facts.predefined) api.Type_free(&inner);
  return facts.dense;
}

/// A message to oneself: MPICH 4 and Intel MPI refuse MPI_BOTTOM in MPI_Pack and MPI_Unpack, and take it here.
int copy(const mpi::Api& api, const void* from, int count, MPI_Datatype type, void* to, int to_count,
         MPI_Datatype to_type, MPI_Comm comm) {
  constexpr int tag = 3;  // no schedule sends to itself
  int rank = 0;
  api.Comm_rank(comm, &rank);
  return api.Sendrecv(from, count, type, rank, tag, to, to_count, to_type, rank, tag, comm,
                      MPI_STATUS_IGNORE);
}

}  // namespace

// A type that fills its extent may still permute it (indexed with falling displacements), so only predefined types and their
// repetitions are known to lie in memory in the order of the type map.
TypeFacts facts_of(const mpi::Api& api, MPI_Datatype type) {
  TypeFacts facts;
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  if (api.Type_size_x(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
      api.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
    return {.size = -1};
  const mpi::Envelope envelope = mpi::envelope_of(api, type);
  facts.size = size;
  facts.extent = extent;
  facts.predefined = envelope.readable && is_predefined(envelope.combiner);
  facts.dense = envelope.readable && lower == 0 && extent == size &&
                (facts.predefined || repeats_dense(api, type, envelope));
  return facts;
}

int pack(const mpi::Api& api, const Region& from, bool dense, std::byte* to, long long bytes, MPI_Comm comm) {
  if (bytes == 0) return MPI_SUCCESS;
  if (dense) {
    std::memcpy(to, from.address, static_cast<std::size_t>(bytes));
    return MPI_SUCCESS;
  }
  const int count = static_cast<int>(from.count), size = static_cast<int>(bytes);
  if (from.address == MPI_BOTTOM)
    return copy(api, from.address, count, from.type, to, size, MPI_PACKED, comm);
  int position = 0;
  return api.Pack(from.address, count, from.type, to, size, &position, comm);
}

int unpack(const mpi::Api& api, const std::byte* from, long long bytes, const Region& to, bool dense,
           MPI_Comm comm) {
  if (bytes == 0) return MPI_SUCCESS;
  void* address = const_cast<void*>(to.address);
  if (dense) {
    std::memcpy(address, from, static_cast<std::size_t>(bytes));
    return MPI_SUCCESS;
  }
  const int count = static_cast<int>(to.count), size = static_cast<int>(bytes);
  if (address == MPI_BOTTOM) return copy(api, from, size, MPI_PACKED, address, count, to.type, comm);
  int position = 0;
  return api.Unpack(from, size, &position, address, count, to.type, comm);
}

}  // namespace wherry::run
