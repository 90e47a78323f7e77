// The derived types that the program uses again and again, found by their handles in a few nanoseconds.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "datatype/type_attribute.hpp"
#include "datatype/type_layouts.hpp"
#include "mpi/api.hpp"

namespace wherry::p2p {

using layout::Offset;

// Bytes. Below, a call costs what it costs to make it, and so it does to look for something better.
inline constexpr Offset least_bytes = 512;

/// A committed type whose layout may be worth a kernel.
struct KnownType {
  std::uint64_t signature = 0;  // equal for types that were made alike: by what, of how much, of what size
  Offset bytes = 0;             // of data in one element
  bool native = false;          // one block, or not to be expressed: the library moves it
  Offset planned = -1;          // elements that the plan is for
  datatype::PlanPtr plan;
  std::uint64_t uses = 0;
};

/// Handles are int in MPICH and pointers elsewhere.
template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

inline std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 32);
}

/// A type is known once the library has taken it several times: so it is valid and committed, and worth an attribute. Where types are
/// freed before they are used again, an attribute would cost as much as packing a kilobyte: there it takes ever more calls.
/// Not thread-safe, but for glances, and frees of types.
class KnownTypes {
 public:
  explicit KnownTypes(const mpi::Api& api) : api_(api), kept_(api, on_free, this), layouts_(api) {}

  enum class Glance { unknown, native, known };
  /// What is known at a glance: native, if the library should move so many elements. For any handle, by any thread.
  Glance glance(MPI_Datatype type, Offset count) {
    Recent& recent = slot(type);
    if (recent.type.load(std::memory_order_acquire) != type) return Glance::unknown;
    if (count < recent.native_below.load(std::memory_order_relaxed)) return Glance::native;
    if (count != recent.passed_count.load(std::memory_order_relaxed)) return Glance::known;
    const int left = recent.passes.load(std::memory_order_relaxed);
    if (left > 0) recent.passes.store(left - 1, std::memory_order_relaxed);
    return left > 0 ? Glance::native : Glance::known;
  }
  /// nullptr: not known. For any handle.
  KnownType* find(MPI_Datatype type) {
    Recent& recent = slot(type);
    return recent.type.load(std::memory_order_acquire) == type ? recent.known.get() : nullptr;
  }
  /// The next so many calls with this count are native at a glance.
  void pass(MPI_Datatype type, Offset count, int calls);
  /// The library has just taken the type, with data, without an error.
  void note(MPI_Datatype type);
  /// The plan for so many elements; nullptr if there is none.
  datatype::PlanPtr plan(KnownType& known, MPI_Datatype type, Offset count);

 private:
  struct Recent {
    std::atomic<MPI_Datatype> type = MPI_DATATYPE_NULL;
    std::atomic<Offset> native_below = 0;   // elements; 0 while the type is not known
    std::atomic<Offset> passed_count = -1;  // elements that pass() was told
    std::atomic<int> passes = 0;
    std::uint64_t sightings = 0;
    std::shared_ptr<KnownType> known;
  };

  Recent& slot(MPI_Datatype type) { return recents_[mixed(number_of(type)) % recents_.size()]; }
  void fill(Recent& recent, MPI_Datatype type);
  std::shared_ptr<KnownType> look_at(MPI_Datatype type);
  static void on_free(MPI_Datatype type, KnownType& known, void* self);

  const mpi::Api& api_;
  datatype::TypeAttribute<KnownType> kept_;
  datatype::TypeLayouts layouts_;
  std::array<Recent, 256> recents_;
  std::atomic<std::uint64_t> needed_ = 2;  // calls by which a type becomes known
};

}  // namespace wherry::p2p
