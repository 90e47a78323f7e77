// MPI_Pack and MPI_Unpack, which Wherry may do itself. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "p2p/packer.hpp"

namespace wherry::interpose {

/// Arguments of either: elements in memory, the packed bytes, and where among them the elements begin.
template <class Count, class Packed>
struct PackArguments {
  const void* memory;
  Count count;
  MPI_Datatype type;
  Packed packed;
  Count size;
  Count* position;
  MPI_Comm comm;
};

template <class Count, class Packed, class Next>
int move_packed(p2p::Direction direction, const PackArguments<Count, Packed>& a, p2p::Moved& moved,
                const Next& next) {
  if (a.packed == nullptr || a.position == nullptr) return next();
  const Count before = *a.position;
  const auto has_moved = [&] { return *a.position > before; };
  const bool ours = backend().packing() && a.comm != MPI_COMM_NULL && before >= 0 && before <= a.size;
  if (!ours) {
    const int code = next();
    moved.taken = has_moved();
    return code;
  }
  auto* const packed =
      static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(a.packed))) + before;
  const p2p::Data data{direction, const_cast<void*>(a.memory), a.count, a.type, packed, a.size - before};
  const int code = backend().packer.move(data, moved, next, has_moved);
  if (moved.copier == p2p::Copier::kernels) *a.position += static_cast<Count>(moved.bytes);
  moved.taken = has_moved();
  return code;
}

template <class Count, class Next>
int pack(const PackArguments<Count, void*>& a, p2p::Moved& moved, const Next& next) {
  return move_packed(p2p::Direction::pack, a, moved, next);
}
template <class Count, class Next>
int unpack(const PackArguments<Count, const void*>& a, p2p::Moved& moved, const Next& next) {
  return move_packed(p2p::Direction::unpack, a, moved, next);
}

/// The data of a call, if it was right: only then is the type valid for sure.
inline Volume volume_of(const p2p::Moved& moved, MPI_Count count, MPI_Datatype type) {
  return moved.taken ? block(count, type) : Volume{};
}

/// Who moved the data of a call, and what was measured. Needs an account.
void book_packing(const Call& call, const p2p::Moved& moved);

}  // namespace wherry::interpose
