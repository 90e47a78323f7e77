// The library behind a window: the call that the program made, and gets of what is missing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "datatype/byte_blocks.hpp"
#include "datatype/type_facts.hpp"
#include "datatype/type_maps.hpp"
#include "mpi/api.hpp"
#include "window/target.hpp"

namespace wherry::window {

/// The native call with the program's own arguments, to be made if it is needed. Refers to a callable that outlives it:
/// a hit does not call it, and must not pay for a copy of the arguments.
class Native {
 public:
  template <class Call>
  explicit(false) Native(const Call& call)
      : call_(&call), run_([](const void* made) -> int { return (*static_cast<const Call*>(made))(); }) {}

  int operator()() const { return run_(call_); }

 private:
  const void* call_;
  int (*run_)(const void*);
};

using datatype::Region;

/// `count` elements of `type` at a displacement in the memory of `rank`.
struct TargetRegion {
  int rank;
  MPI_Aint displacement;
  long long count;
  MPI_Datatype type;
};

/// Whether all that is named is the target's memory in the window. map: of place.type.
bool is_inside(const TargetRegion& place, const TargetMemory& memory, const datatype::TypeMap& map);

inline constexpr std::int64_t most_bytes = INT32_MAX;  // of one transfer

inline datatype::ByteBlock block_of(const cache::TargetRange& range) {
  return {static_cast<std::int64_t>(range.displacement), static_cast<std::int64_t>(range.bytes)};
}
std::uint64_t bytes_of(std::span<const MissingPart> parts);

/// Makes the native call for some gets of a target, the last of which is the last that was issued to it, and now and
/// then takes its time. bytes: what they bring in all.
int run_timed(Target& target, std::uint64_t bytes, const Native& native, std::size_t gets = 1);

class NativeWindow {
 public:
  NativeWindow(const mpi::Api& api, datatype::Types& types, MPI_Win win)
      : api_(api), types_(types), win_(win) {}

  MPI_Win win() const { return win_; }
  std::shared_ptr<const datatype::TypeMap> map(MPI_Datatype type) const { return types_.map(type); }

  /// Tells the window's error handler. Returns the code.
  int refuse(int code) const;
  /// MPI_SUCCESS. What the library need not be called for must not keep it from making progress.
  int without_call() {
    if ((++without_call_ & 127) == 0) [[unlikely]]
      make_progress();
    return MPI_SUCCESS;
  }

  /// Parts of one target's memory, by one get. unit: of its displacements.
  int get_parts(std::span<const MissingPart> parts, std::int64_t unit) const;
  /// One get of these bytes of a target's memory, to bytes at and after `to`. request: nullptr if there is to be none.
  int get_blocks(std::byte* to, const datatype::ByteBlocks& here, int rank, std::int64_t unit,
                 const datatype::ByteBlocks& there, MPI_Request* request) const;
  /// A native request that is complete.
  int get_nothing(void* to, MPI_Request* request) const;

 private:
  void make_progress() const;

  const mpi::Api& api_;
  datatype::Types& types_;
  const MPI_Win win_;
  unsigned without_call_ = 0;
};

/// The type of the common case: the predefined type of the last get that may be cached.
struct PlainType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::int64_t size = 0;
};

}  // namespace wherry::window
