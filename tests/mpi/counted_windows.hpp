// A cached window whose calls of the library are counted.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "window/windows.hpp"

namespace wherry::test {

/// Calls that Wherry made of the library by itself.
inline std::atomic<long> probes = 0, own_gets = 0;

inline int counted_iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  ++probes;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
inline int counted_get(void* origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
                       int target_count, MPI_Datatype target_type, MPI_Win win) {
  ++own_gets;
  return PMPI_Get(origin, count, type, target, displacement, target_count, target_type, win);
}

/// What users were told of windows.
inline std::vector<std::string> told;
inline void note_told(const std::string& problem) { told.push_back(problem); }

inline mpi::Api counted_api() {
  mpi::Api api = mpi::linked_api();
  api.Iprobe = counted_iprobe;
  api.Get = counted_get;
  return api;
}

/// A window of bytes, cached, within lock_all; collective over MPI_COMM_WORLD. Value of byte i of rank r: r * 7 + i.
class CountedWindow {
 public:
  CountedWindow(const window::Options& options, std::size_t bytes)
      : memory_(bytes), windows_(api_, note_told) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (std::size_t i = 0; i < bytes; ++i) memory_[i] = value(rank, i);
    PMPI_Win_create(memory_.data(), static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    windows_.add(win_, MPI_COMM_WORLD, {static_cast<std::int64_t>(bytes), 1}, options);
    PMPI_Win_lock_all(0, win_);
  }
  CountedWindow(const CountedWindow&) = delete;
  CountedWindow& operator=(const CountedWindow&) = delete;
  ~CountedWindow() {
    if (window() == nullptr) PMPI_Win_unlock_all(win_);
    else window()->unlock_all([&] { return PMPI_Win_unlock_all(win_); });
    PMPI_Win_free(&win_);
  }

  static std::byte value(int rank, std::size_t i) {
    return static_cast<std::byte>(static_cast<std::size_t>(rank) * 7 + i);
  }

  window::Window* window() { return windows_.find(win_); }
  const window::Windows::Known* known() const { return windows_.know(win_); }

  void get(void* into, int target, int at, int bytes) {
    window()->get({into, bytes, MPI_BYTE}, {target, at, bytes, MPI_BYTE}, 1, [&] {
      ++gets;
      return PMPI_Get(into, bytes, MPI_BYTE, target, at, bytes, MPI_BYTE, win_);
    });
  }
  /// A put that reaches its target as late as it may: in the flush that ends it.
  void put_and_flush_late(const void* from, int target, int at, int bytes,
                          const std::function<void()>& meanwhile) {
    window()->put({from, bytes, MPI_BYTE}, {target, at, bytes, MPI_BYTE}, [] { return MPI_SUCCESS; });
    meanwhile();
    window()->flush(target, [&] {
      PMPI_Put(from, bytes, MPI_BYTE, target, at, bytes, MPI_BYTE, win_);
      return PMPI_Win_flush(target, win_);
    });
  }
  void flush(int target) {
    window()->flush(target, [&] { return ++flushes, PMPI_Win_flush(target, win_); });
  }
  void flush_all() {
    window()->flush_all([&] { return ++flushes, PMPI_Win_flush_all(win_); });
  }

  std::atomic<long> gets = 0, flushes = 0;  // of the library

 private:
  const mpi::Api api_ = counted_api();
  std::vector<std::byte> memory_;
  mutable window::Windows windows_;
  MPI_Win win_ = MPI_WIN_NULL;
};

}  // namespace wherry::test
