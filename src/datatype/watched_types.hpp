// Whether what is remembered of a datatype's handle still holds.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "datatype/type_attribute.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

/// Counts the frees of types that somebody remembers: such a handle may come again as another type. May go before they
/// do. Thread-safe.
class WatchedTypes {
 public:
  explicit WatchedTypes(const mpi::Api& api) : watches_(api, count_free) {}

  /// From now on freed() changes when the type goes. The type must be valid, and no predefined one, which stays. false:
  /// the library would not have it.
  bool watch(MPI_Datatype type) {
    const std::lock_guard lock(mutex_);
    return watches_.find(type) != nullptr || watches_.keep(type, freed_);
  }
  /// As long as this is the same, no watched handle is another type.
  [[gnu::always_inline]] std::uint64_t freed() const { return freed_->load(std::memory_order_relaxed); }

 private:
  using Count = std::atomic<std::uint64_t>;

  static void count_free(MPI_Datatype, Count& freed, void*) { freed.fetch_add(1, std::memory_order_relaxed); }

  std::mutex mutex_;
  TypeAttribute<Count> watches_;
  const std::shared_ptr<Count> freed_ = std::make_shared<Count>(0);
};

}  // namespace wherry::datatype
