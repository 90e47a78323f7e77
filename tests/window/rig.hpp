// A cached window on the stand-in library, whose functions are called as a program would.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "window/library.hpp"
#include "window/window.hpp"

namespace window_test {

namespace cache = wherry::cache;
namespace window = wherry::window;
using Bytes = std::vector<std::byte>;

/// Rank 0 of `ranks` has nothing cached: it is the one that calls.
class Rig {
 public:
  Rig(const window::Options& options, std::size_t ranks, std::size_t bytes, int unit = 1, unsigned seed = 1,
      bool threads = false)
      : library(ranks, bytes, seed),
        unit(unit),
        types_(api_),
        window(api_, types_, reinterpret_cast<MPI_Win>(static_cast<std::uintptr_t>(unit)),
               std::vector<window::TargetMemory>(ranks, {static_cast<std::int64_t>(bytes), unit}), 0, options,
               threads) {}

  int get(void* to, int count, MPI_Datatype type, int rank, const Data& there) {
    return window.get({to, count, type}, place(rank, there), 1,
                      [&] { return library.get(data_at(to, count, type), rank, there); });
  }
  int get(void* to, int bytes, int rank, std::int64_t at) {
    return get(to, bytes, MPI_BYTE, rank, {at, bytes, MPI_BYTE});
  }
  int rget(void* to, int count, MPI_Datatype type, int rank, const Data& there, MPI_Request* request) {
    return window.rget({to, count, type}, place(rank, there), request,
                       [&] { return library.get(data_at(to, count, type), rank, there, request); });
  }
  int put(const void* from, int count, MPI_Datatype type, int rank, const Data& there) {
    return window.put({from, count, type}, place(rank, there),
                      [&] { return library.put(data_at(from, count, type), rank, there); });
  }
  int increment(int rank, const Data& there) {
    return window.change(place(rank, there), [&] { return library.increment(rank, there); });
  }
  int flush(int rank) {
    return window.flush(rank, [&] { return library.flush(rank); });
  }
  int flush_local(int rank) {
    return window.flush_local(rank, [&] { return library.flush(rank); });
  }
  int flush_all() {
    return window.flush_all([&] { return library.flush_all(); });
  }
  int flush_local_all() {
    return window.flush_local_all([&] { return library.flush_all(); });
  }
  int unlock(int rank) {
    return window.unlock(rank, [&] { return library.flush(rank); });
  }
  int unlock_all() {
    return window.unlock_all([&] { return library.flush_all(); });
  }
  int end_epoch() {
    return window.end_epoch([&] { return library.flush_all(); });
  }

  /// With a cache that other ranks of the node use, too.
  cache::NodeCache& share() {
    node_memory_.resize(64);
    node_.emplace(std::as_writable_bytes(std::span(node_memory_)));
    window.share(*node_);
    return *node_;
  }

  Library library;
  const int unit;

 private:
  struct alignas(64) Lines {
    std::byte bytes[1024];
  };

  window::TargetRegion place(int rank, const Data& there) const {
    return {rank, there.at / unit, there.count, there.type};
  }

  std::vector<Lines> node_memory_;
  std::optional<cache::NodeCache> node_;
  const wherry::mpi::Api api_ = Library::api();
  wherry::datatype::Types types_;

 public:
  window::Window window;
};

/// Remembers until the program says otherwise, from the first get on.
inline window::Options user(bool coalesces = false) {
  window::Options options;
  options.cache.mode = cache::Mode::user_defined;
  options.bypass = false;
  options.coalesces = coalesces;
  return options;
}

/// What a target has there.
inline Bytes content(Rig& rig, int rank, std::int64_t at, std::size_t bytes) {
  Bytes found;
  for (std::size_t i = 0; i < bytes; ++i)
    found.push_back(rig.library.read(rank, at + static_cast<std::int64_t>(i)));
  return found;
}

inline Bytes read(Rig& rig, int rank, std::int64_t at, std::size_t bytes) {
  Bytes into(bytes);
  rig.get(into.data(), static_cast<int>(bytes), rank, at);
  rig.flush(rank);
  return into;
}

}  // namespace window_test
