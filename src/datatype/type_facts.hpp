// Facts about a datatype, and packing at the edges of a collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>

#include "mpi/api.hpp"

namespace wherry::datatype {

/// What the executor needs to know of a datatype.
struct TypeFacts {
  long long size = 0;    // bytes of data in one element; negative: the library does not tell
  long long extent = 0;  // distance between two elements in memory
  bool dense = false;    // `n` elements are n * size bytes in memory order without a gap
  bool predefined = false;
};

TypeFacts facts_of(const mpi::Api& api, MPI_Datatype type);

/// Remembers the facts of the last predefined type: most calls use one and the same. Other handles may be
/// freed and come again as another type.
class TypeMemory {
 public:
  TypeFacts facts_of(const mpi::Api& api, MPI_Datatype type) {
    if (known_ && type == type_) return facts_;
    const TypeFacts facts = datatype::facts_of(api, type);
    if (facts.predefined) type_ = type, facts_ = facts, known_ = true;
    return facts;
  }

 private:
  bool known_ = false;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  TypeFacts facts_;
};

/// `count` elements of `type` at `address`.
struct Region {
  const void* address = nullptr;
  long long count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// Bytes that MPI_Pack and MPI_Unpack can count.
inline constexpr long long most_packed_bytes = std::numeric_limits<int>::max();

/// Whether pack() and unpack() can move these elements of so many bytes together: by several calls, where one cannot
/// count them, of at least an element each.
bool is_packable(const Region& region, long long bytes, long long most = most_packed_bytes);

/// Copies the data of `from` to `to` without gaps, `bytes` of it. Returns an MPI code; MPI_ERR_COUNT, which nobody has
/// been told of, for what is not packable.
int pack(const mpi::Api& api, const Region& from, bool dense, std::byte* to, long long bytes, MPI_Comm comm,
         long long most = most_packed_bytes);

/// Spreads `bytes` bytes at `from` over the elements of `to`; gaps stay untouched. Returns an MPI code as pack() does.
int unpack(const mpi::Api& api, const std::byte* from, long long bytes, const Region& to, bool dense,
           MPI_Comm comm, long long most = most_packed_bytes);

}  // namespace wherry::datatype
