#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "window/rig.hpp"

using namespace window_test;

namespace {

constexpr int workers = 4, members = 3, slice = 1024;

/// Reads anything but others' slices, writes its own, and completes in all ways; how many bytes were wrong.
long work(Rig& rig, int worker, int rounds) {
  std::mt19937 random(static_cast<unsigned>(worker) + 1);
  const auto choose = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    const int rank = 1 + choose(members - 1), bytes = 1 + choose(200);
    const std::int64_t at = (choose(2) == 0 ? worker : workers) * slice + choose(slice - bytes);
    std::vector<std::byte> into(static_cast<std::size_t>(bytes)), expected;
    for (int i = 0; i < bytes; ++i) expected.push_back(rig.library.read(rank, at + i));
    rig.get(into.data(), bytes, rank, at);
    switch (choose(8)) {
      case 0: rig.flush_all(); break;
      case 1: rig.flush_local(rank); break;
      case 2: rig.flush_local_all(); break;
      case 3: rig.unlock(rank); break;
      case 4: rig.unlock_all(); break;
      default: rig.flush(rank);
    }
    wrong += into != expected;
    if (choose(8) == 0) {
      const std::vector<std::byte> news(8, static_cast<std::byte>(random()));
      rig.put(news.data(), 8, MPI_BYTE, rank, {worker * slice + choose(slice - 8), 8, MPI_BYTE});
      rig.flush(rank);
    }
    if (choose(64) == 0) rig.window.invalidate();
    if (choose(16) == 0) {
      const window::WindowStatistics so_far = rig.window.statistics();
      wrong += so_far.cache.lookups() + so_far.bypassed == 0;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("window: threads share one, and each finds its data after its own flush") {
  for (const auto mode : {cache::Mode::transparent, cache::Mode::always_cache, cache::Mode::user_defined})
    for (const bool coalesces : {false, true}) {
      CAPTURE(static_cast<int>(mode));
      CAPTURE(coalesces);
      window::Options options;
      options.cache.mode = mode;
      options.cache.ceiling_bytes = 65536;
      options.cache.storage_bytes = 8192;
      options.coalesces = coalesces;
      options.without_cache_s = 1e-5;  // then it is made, while threads read
      options.block_bytes = coalesces ? 0 : 64;
      Rig rig(options, members, (workers + 1) * slice, 1, 1, true);
      if (mode != cache::Mode::transparent) rig.share();
      std::atomic<long> wrong = 0;
      std::vector<std::thread> threads;
      for (int i = 0; i < workers; ++i) threads.emplace_back([&, i] { wrong += work(rig, i, 300); });
      for (std::thread& thread : threads) thread.join();
      CHECK(wrong == 0);
    }
}
