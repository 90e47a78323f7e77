// Gets through one of Wherry's windows, which remembers what was read until the memory changes.
#pragma once

#include <cstddef>
#include <memory>

#include "remote/reader.hpp"
#include "support/mpi/comm.hpp"
#include "wherry/window.hpp"

namespace remote {

class WherryReader : public Reader {
 public:
  /// Exposes `mine`, which must outlive it. Collective over comm, and so is its end.
  WherryReader(MPI_Comm comm, std::span<const std::byte> mine, wherry::WindowOptions options)
      : comm_(comm), window_(create(comm, mine, options)) {
    window_.lock_all();
  }
  ~WherryReader() override { window_.unlock_all(); }

  void get(std::span<std::byte> into, int target, std::size_t displacement, double score) override {
    ++gets_;
    get_bytes_ += into.size();
    window_.get(into, target, static_cast<long long>(displacement), score);
  }
  void flush() override { window_.flush_all(); }
  void renew() override {
    window_.flush_all();
    window_.sync();
    MPI_Barrier(comm_);
    window_.sync();
    window_.invalidate();
  }

  Statistics statistics() const override {
    const auto cache = window_.statistics();
    const std::uint64_t moves = cache.gets_fetched + cache.gets_passed + cache.gets_bypassed;
    return {.gets = gets_,
            .get_bytes = get_bytes_,
            .hits = gets_ - moves,
            .moves = moves,
            .move_bytes = get_bytes_ - cache.bytes_saved + cache.bytes_ahead};
  }

 private:
  static wherry::Window<std::byte> create(MPI_Comm comm, std::span<const std::byte> mine,
                                          wherry::WindowOptions options) {
    options.mode = wherry::CacheMode::user;
    // Nobody writes through this window.
    return wherry::Window<std::byte>::create(comm, {const_cast<std::byte*>(mine.data()), mine.size()},
                                             options);
  }

  MPI_Comm comm_;
  wherry::Window<std::byte> window_;
  std::uint64_t gets_ = 0, get_bytes_ = 0;
};

}  // namespace remote
