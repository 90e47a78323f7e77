// Messages of derived types as bytes that Wherry's kernels pack and unpack, where that is faster.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/settings.hpp"
#include "comm/accelerator.hpp"
#include "layout/measured_choice.hpp"
#include "mpi/api.hpp"
#include "p2p/known_types.hpp"

namespace wherry::p2p {

using layout::Copier;

/// Memory for the bytes of a message: aligned to cache lines, not initialized.
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

  bool unknown = false;  // the type: the library is to take it first
  Offset bytes = 0;      // of data; 0: nothing is to be chosen
  datatype::PlanPtr plan;
  Packed packed;  // null: native
};

/// One call. A blocking one; `sent` or `received` alone may be in use.
struct Transfer {
  Elements sent, received;
  Copier copier = Copier::native;
  std::optional<layout::MeasuredChoice::Found> found;
  std::string_view fallback;  // why it was native, where Wherry cannot do it

  Offset bytes() const { return sent.bytes + received.bytes; }

  // Between begin() and end():
  layout::MeasuredChoice* measured = nullptr;
  std::uint64_t begun_ns = 0;
};

/// What is sent is the data in type map order, as the library would send it: the other side may be anything. So each
/// side decides alone, and the messages match as always. Thread-safe.
class Messages {
 public:
  /// most_bytes: for a larger message no memory is taken.
  Messages(LayoutLever lever, const mpi::Api& api, std::size_t most_bytes)
      : lever_(lever), api_(api), most_bytes_(static_cast<Offset>(most_bytes)), types_(api, least_bytes) {}

  /// Whether it is known at once that the library should move these elements. For any handle, by any thread.
  bool is_native(MPI_Datatype type, Offset count) {
    return has_none(type, count) || types_.is_native(type, count);
  }

  /// Of the same kind are calls of one function at one place with one peer; most: of bytes in one message, by the type
  /// of its count.
  struct Kind {
    std::uint32_t function;
    const void* site;
    int peer;
    Offset most;
  };
  /// Decides, and packs what is sent. Then the call is the library's to make: with the bytes of `sent` and `received`,
  /// where there are any, else with the program's own arguments.
  void begin(const Kind& kind, Transfer& transfer);

  /// What the library said. arrived: bytes; negative: nothing. valid: it has taken the arguments for right.
  struct Outcome {
    bool succeeded, valid;
    Offset arrived = -1;
  };
  /// Unpacks what has arrived.
  void end(Transfer& transfer, const Outcome& outcome);

  /// Whether a call on comm that returns MPI_SUCCESS was right: MPICH returns that too where an error handler of the
  /// program's own has seen an error.
  bool tells_errors(MPI_Comm comm) const;

 private:
  static constexpr Offset least_bytes = 1024;
  static bool has_none(MPI_Datatype type, Offset count) { return count <= 0 || type == MPI_DATATYPE_NULL; }

  void decide(const Kind& kind, Transfer& transfer);
  void examine(Elements& elements, Offset most, Transfer& transfer);
  bool wants_kernels(const Kind& kind, Transfer& transfer);
  std::uint64_t key_of(const Kind& kind, const Transfer& transfer);
  void plan(Elements& elements, Transfer& transfer);

  const LayoutLever lever_;
  const mpi::Api& api_;
  const Offset most_bytes_;
  std::mutex mutex_;
  KnownTypes types_;
  run::AcceleratorWatch accelerator_;
  std::unordered_map<std::uint64_t, layout::MeasuredChoice> choices_;  // by kind, type and size
};

}  // namespace wherry::p2p
