// Large layouts are packed by several threads where cores are free.
#pragma once

#include <functional>

#include "layout/pack.hpp"

namespace wherry::layout {

/// Threads for so much data, the caller's among them, where so many cores have nothing to do.
int threads_for(Offset bytes, int free_cores);

/// A range as consecutive pieces, about as long as each other.
class Pieces {
 public:
  /// wanted: how many, at least 1; fewer of a range that is too short.
  Pieces(DataRange range, int wanted);
  int count() const { return count_; }
  DataRange operator[](int i) const;

 private:
  DataRange range_;
  Offset piece_;
  int count_;
};

/// By so many threads, or by fewer where the system has none; any number gives the bytes that one gives. Helpers live
/// as long as the call finds work for them. They get no signals but those of their own faults.
void pack(const PackPlan& plan, const std::byte* memory, std::byte* packed, DataRange range, int threads);
void unpack(const PackPlan& plan, std::byte* memory, const std::byte* packed, DataRange range, int threads);

/// Asks how many cores are free before it packs what is large enough for several threads. Thread-safe if that is.
class ParallelPacker {
 public:
  explicit ParallelPacker(std::function<int()> free_cores) : free_cores_(std::move(free_cores)) {}
  void pack(const PackPlan& plan, const std::byte* memory, std::byte* packed, DataRange range) const {
    layout::pack(plan, memory, packed, range, threads(range));
  }
  void unpack(const PackPlan& plan, std::byte* memory, const std::byte* packed, DataRange range) const {
    layout::unpack(plan, memory, packed, range, threads(range));
  }

 private:
  int threads(DataRange range) const;

  std::function<int()> free_cores_;
};

}  // namespace wherry::layout
