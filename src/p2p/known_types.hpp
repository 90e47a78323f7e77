// The derived types that the program uses again and again, found by their handles in a few nanoseconds.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/numbers.hpp"
#include "datatype/type_attribute.hpp"
#include "datatype/type_layouts.hpp"
#include "mpi/api.hpp"
#include "p2p/native_messages.hpp"

namespace wherry::p2p {

using layout::Offset;

enum class Direction : std::uint8_t { pack, unpack };

/// A committed type whose layout may be worth a kernel.
struct KnownType {
  std::uint64_t signature = 0;  // equal for types that were made alike: by what, of how much, of what size
  Offset bytes = 0;             // of data in one element
  bool native = false;          // one block, or not to be expressed: the library moves it
  Offset planned = -1;          // elements that the plan is for
  datatype::PlanPtr plan;
  std::uint64_t uses = 0;
};

/// A type is known once the library has taken it several times: so it is valid and committed, and worth an attribute.
/// Where types are freed before they are used again, an attribute would cost as much as packing a kilobyte: there it
/// takes ever more calls. Thread-safe are lookup(), and frees of types.
class KnownTypes {
 public:
  /// least_bytes: of smaller data a faster copy saves less than a call's fixed cost; they are native.
  KnownTypes(const mpi::Api& api, Offset least_bytes)
      : api_(api), least_bytes_(least_bytes), kept_(api, on_free, this), layouts_(api) {}

  enum class Lookup { unknown, native, known };
  /// What is known: native, if the library should move so many elements. For any handle, by any thread.
  Lookup lookup(MPI_Datatype type, Offset count, Direction direction) {
    Slot& slot_of_type = slot(type);
    if (slot_of_type.type.load(std::memory_order_acquire) != type) return Lookup::unknown;
    if (is_native_in(slot_of_type, count)) return Lookup::native;
    Passed& passed = slot_of_type.passed[static_cast<std::size_t>(direction)];
    if (count != passed.count.load(std::memory_order_relaxed)) return Lookup::known;
    const int left = passed.calls.load(std::memory_order_relaxed);
    if (left > 0) passed.calls.store(left - 1, std::memory_order_relaxed);
    return left > 0 ? Lookup::native : Lookup::known;
  }
  /// Whether so many elements are known to be native for good. For any handle, by any thread.
  bool is_native(MPI_Datatype type, Offset count) {
    if (native_.has(number_of(type), count)) return true;
    Slot& slot_of_type = slot(type);
    if (slot_of_type.type.load(std::memory_order_acquire) != type || !is_native_in(slot_of_type, count))
      return false;
    native_.put(number_of(type), slot_of_type.native_below.load(std::memory_order_relaxed));
    return true;
  }
  /// Whether anything is known of it. For any handle, by any thread.
  bool is_known(MPI_Datatype type) {
    Slot& slot_of_type = slot(type);
    return slot_of_type.type.load(std::memory_order_acquire) == type &&
           slot_of_type.native_below.load(std::memory_order_relaxed) != 0;
  }
  /// is_native(), but only what is found at once.
  bool is_surely_native(MPI_Datatype type, Offset count) const { return native_.has(number_of(type), count); }
  /// nullptr: not known. For any handle.
  KnownType* find(MPI_Datatype type) {
    Slot& slot_of_type = slot(type);
    if (slot_of_type.type.load(std::memory_order_acquire) != type) return nullptr;
    KnownType* const known = slot_of_type.known.get();
    if (known != nullptr) ++known->uses;
    return known;
  }
  /// The next so many calls with this count in this direction are native by lookup().
  void pass(MPI_Datatype type, Offset count, Direction direction, int calls);
  /// The library has just taken the type, with data, without an error.
  void note(MPI_Datatype type);
  /// The plan for so many elements; nullptr if there is none.
  datatype::PlanPtr plan(KnownType& known, MPI_Datatype type, Offset count);

 private:
  struct Passed {
    std::atomic<Offset> count = -1;  // elements
    std::atomic<int> calls = 0;
  };
  struct Slot {
    std::atomic<MPI_Datatype> type = MPI_DATATYPE_NULL;
    std::atomic<Offset> native_below = 0;  // elements; 0 while the type is not known
    std::atomic<bool> used = false;        // since it is known, so that it was worth an attribute
    std::array<Passed, 2> passed;          // what pass() was told, by direction
    std::uint64_t uses_seen = 0;
    std::shared_ptr<KnownType> known;
  };

  static bool is_native_in(Slot& slot_of_type, Offset count) {
    if (count >= slot_of_type.native_below.load(std::memory_order_relaxed)) return false;
    if (!slot_of_type.used.load(std::memory_order_relaxed))
      slot_of_type.used.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Where a type is, or would be. Two share a place: a program that uses both in turns does not make each forget the
  /// other.
  Slot& slot(MPI_Datatype type) {
    Slot* const pair = &slots_[hashed(number_of(type)) % (slots_.size() / 2) * 2];
    const MPI_Datatype first = pair[0].type.load(std::memory_order_acquire);
    const MPI_Datatype second = pair[1].type.load(std::memory_order_acquire);
    const bool is_second =
        second == type || (first != type && first != MPI_DATATYPE_NULL && second == MPI_DATATYPE_NULL);
    return pair[is_second ? 1 : 0];
  }
  void fill(Slot& slot_of_type, MPI_Datatype type);
  std::shared_ptr<KnownType> describe(MPI_Datatype type);
  static void on_free(MPI_Datatype type, KnownType& known, void* self);

  NativeTypes native_;
  const mpi::Api& api_;
  const Offset least_bytes_;
  datatype::TypeAttribute<KnownType> kept_;
  datatype::TypeLayouts layouts_;
  std::array<Slot, 256> slots_;
  std::atomic<std::uint64_t> needed_ = 2;  // calls by which a type becomes known
};

}  // namespace wherry::p2p
