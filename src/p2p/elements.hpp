// Elements of derived types as the bytes that the library would send for them, and back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include "comm/accelerator.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"
#include "p2p/known_types.hpp"

namespace wherry::p2p {

/// Memory for packed bytes: aligned to cache lines, not initialized.
struct PackedDeleter {
  void operator()(std::byte* packed) const { ::operator delete(packed, alignment); }
  static constexpr std::align_val_t alignment{64};
};
using Packed = std::unique_ptr<std::byte, PackedDeleter>;

/// What a call sends or receives, and, once Wherry has taken it over, the same as bytes.
struct Elements {
  std::byte* memory = nullptr;
  Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  bool unknown = false;         // the type: the library is to take it first
  Offset bytes = 0;             // of data; 0: nothing is to be chosen
  std::uint64_t signature = 0;  // equal for types that were made alike, with data of about this size
  datatype::PlanPtr plan;
  const layout::ParallelPacker* packer = nullptr;
  Packed packed;  // null: native

  bool is_taken() const { return packed != nullptr; }
  /// From the elements to the bytes, or back, as many as have arrived.
  void pack() const;
  void unpack(Offset arrived) const;
};

/// Of the same kind are calls of one function at one place with one peer.
struct MessageKind {
  std::uint32_t function;
  const void* site;
  int peer;
  Offset most;                // of bytes in one message, by the type of its count
  std::string_view obstacle;  // why the library must move derived types here; empty: it need not

  std::uint64_t hash() const {
    return hashed(hashed(number_of(site) ^ function) ^ static_cast<std::uint32_t>(peer));
  }
};

/// Thread-safe.
class Converter {
 public:
  /// most_bytes: for a larger message no memory is taken.
  Converter(const mpi::Api& api, std::size_t most_bytes, const layout::ParallelPacker& parallel)
      : most_bytes_(static_cast<Offset>(most_bytes)), parallel_(parallel), types_(api, least_bytes) {}

  /// Whether it is known at once that the library should move these elements. For any handle, by any thread.
  bool is_native(MPI_Datatype type, Offset count) {
    return has_none(type, count) || types_.is_native(type, count);
  }
  /// Whether the type is one of those that are used again, of which something is known.
  bool is_known(MPI_Datatype type) { return types_.is_known(type); }
  bool is_surely_native(MPI_Datatype type, Offset count) const {
    return types_.is_surely_native(type, count);
  }
  Offset most_bytes() const { return most_bytes_; }

  /// Whether there is something to choose: then elements.bytes says so. Returns why not, where Wherry cannot do it.
  std::string_view examine(Elements& elements, const MessageKind& kind);
  /// Makes a plan, and memory, for what examine() has found; else drops it. Returns why, where Wherry cannot do it.
  std::string_view take(Elements& elements);
  /// The library has taken the type of these elements without an error.
  void note(const Elements& elements);

 private:
  static constexpr Offset least_bytes = 1024;
  static bool has_none(MPI_Datatype type, Offset count) { return count <= 0 || type == MPI_DATATYPE_NULL; }

  const Offset most_bytes_;
  const layout::ParallelPacker& parallel_;
  std::mutex mutex_;
  KnownTypes types_;
  run::AcceleratorWatch accelerator_;
};

/// Bytes of the message that the status is of; negative: none, as of a cancelled one, whose status says nothing else.
Offset arrived_bytes(const mpi::Api& api, const MPI_Status& status);

/// Whether a call on comm that returns MPI_SUCCESS was right: MPICH returns that too where an error handler of the
/// program's own has seen an error.
bool tells_errors(const mpi::Api& api, MPI_Comm comm);
/// Whether errors on comm end the program.
bool is_fatal(const mpi::Api& api, MPI_Comm comm);

}  // namespace wherry::p2p
