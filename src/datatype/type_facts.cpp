#include "datatype/type_facts.hpp"

#include <algorithm>
#include <cstring>

#include "datatype/contents.hpp"

namespace wherry::datatype {

namespace {

/// Whether a type made of `inner` elements one after the other is dense because they are.
bool repeats_dense(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& envelope) {
  if (envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP) return false;
  MPI_Datatype inner = inner_of(api, type, envelope);
  if (inner == MPI_DATATYPE_NULL) return false;
  const TypeFacts facts = facts_of(api, inner);
  if (!facts.predefined) api.Type_free(&inner);
  return facts.dense;
}

/// Memory as MPI_Pack and MPI_Unpack take it. MPICH 4 and Intel MPI refuse MPI_BOTTOM there: then it is the same memory
/// as seen from an address, through a type whose displacement leads back. Not a message to oneself, which those
/// libraries take: this happens where they make progress and may not be asked for more.
class Anchored {
 public:
  Anchored(const mpi::Api& api, const Region& region)
      : api_(api),
        address_(const_cast<void*>(region.address)),
        count_(static_cast<int>(region.count)),
        type_(region.type) {
    if (address_ == MPI_BOTTOM) anchor();
  }
  Anchored(const Anchored&) = delete;
  Anchored& operator=(const Anchored&) = delete;
  ~Anchored() {
    if (own_ != MPI_DATATYPE_NULL) api_.Type_free(&own_);
  }

  int pack(std::byte* to, int bytes, MPI_Comm comm) const {
    int position = 0;
    return code_ != MPI_SUCCESS ? code_ : api_.Pack(address_, count_, type_, to, bytes, &position, comm);
  }
  int unpack(const std::byte* from, int bytes, MPI_Comm comm) const {
    int position = 0;
    return code_ != MPI_SUCCESS ? code_ : api_.Unpack(from, bytes, &position, address_, count_, type_, comm);
  }

 private:
  void anchor() {
    const MPI_Aint back = -reinterpret_cast<MPI_Aint>(this);
    code_ = api_.Type_create_struct(1, &count_, &back, &type_, &own_);
    if (code_ == MPI_SUCCESS) code_ = api_.Type_commit(&own_);
    address_ = this;
    count_ = 1;
    type_ = own_;
  }

  const mpi::Api& api_;
  void* address_;
  int count_;
  MPI_Datatype type_;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace

// A type that fills its extent may still permute it (indexed with falling displacements), so only predefined types and
// their repetitions are known to lie in memory in the order of the type map.
TypeFacts facts_of(const mpi::Api& api, MPI_Datatype type) {
  TypeFacts facts;
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  if (api.Type_size_x(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
      api.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
    return {.size = -1};
  const TypeEnvelope envelope = envelope_of(api, type);
  facts.size = size;
  facts.extent = extent;
  facts.predefined = envelope.readable && is_predefined(envelope.combiner);
  facts.dense = envelope.readable && lower == 0 && extent == size &&
                (facts.predefined || repeats_dense(api, type, envelope));
  return facts;
}

bool is_packable(const Region& region, long long bytes, long long most) {
  return bytes <= most || (region.count > 0 && bytes / region.count <= most);
}

namespace {

/// MPI_Pack and MPI_Unpack count in int: so many elements at a time. move(part, where its bytes begin, bytes).
template <class Move>
int in_parts(const mpi::Api& api, const Region& whole, long long bytes, long long most, const Move& move) {
  if (bytes <= most) return move(whole, 0, bytes);
  if (!is_packable(whole, bytes, most)) return MPI_ERR_COUNT;
  MPI_Aint lower = 0, extent = 0;
  int code = api.Type_get_extent(whole.type, &lower, &extent);
  const long long each = bytes / whole.count, count_of_part = most / each;
  auto* const first = static_cast<std::byte*>(const_cast<void*>(whole.address));
  for (long long i = 0; i < whole.count && code == MPI_SUCCESS; i += count_of_part) {
    const long long count = std::min<long long>(count_of_part, whole.count - i);
    code = move(Region{first + i * extent, count, whole.type}, i * each, count * each);
  }
  return code;
}

}  // namespace

int pack(const mpi::Api& api, const Region& from, bool dense, std::byte* to, long long bytes, MPI_Comm comm,
         long long most) {
  if (bytes == 0) return MPI_SUCCESS;
  if (dense) {
    std::memcpy(to, from.address, static_cast<std::size_t>(bytes));
    return MPI_SUCCESS;
  }
  return in_parts(api, from, bytes, most, [&](const Region& part, long long begin, long long length) {
    return Anchored(api, part).pack(to + begin, static_cast<int>(length), comm);
  });
}

int unpack(const mpi::Api& api, const std::byte* from, long long bytes, const Region& to, bool dense,
           MPI_Comm comm, long long most) {
  if (bytes == 0) return MPI_SUCCESS;
  if (dense) {
    std::memcpy(const_cast<void*>(to.address), from, static_cast<std::size_t>(bytes));
    return MPI_SUCCESS;
  }
  return in_parts(api, to, bytes, most, [&](const Region& part, long long begin, long long length) {
    return Anchored(api, part).unpack(from + begin, static_cast<int>(length), comm);
  });
}

}  // namespace wherry::datatype
