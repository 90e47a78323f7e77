// Before a window has a cache, and where no target asks it.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "window/rig.hpp"

using namespace window_test;

TEST_CASE("window: one that lives for a few gets has no cache") {
  window::Options options;
  Rig rig(options, 3, 4096);
  std::byte into[16];
  for (int i = 0; i < 100; ++i) {
    rig.get(into, 16, 1, 0);
    rig.flush(1);
  }
  const window::WindowStatistics statistics = rig.window.statistics();
  CHECK(statistics.bypassed == 100);
  CHECK(statistics.bytes == 0);
  CHECK(statistics.flushes_saved == 0);
}

TEST_CASE("window: it gets one when plain gets have taken as long as making it does") {
  // In one epoch nothing is completed: how long a get takes is not known, and taken to be 2 us.
  constexpr int plain = 10;
  window::Options options;
  options.without_cache_s = plain * 2e-6;
  Rig rig(options, 3, 4096);
  std::byte into[16];
  for (int i = 0; i < plain; ++i) rig.get(into, 16, 1, 0);
  CHECK(rig.window.statistics().bypassed == plain - 1);
  rig.flush(1);
  rig.get(into, 16, 1, 0);
  rig.flush(1);
  rig.get(into, 16, 2, 0);
  rig.get(into, 16, 2, 0);
  CHECK(rig.window.statistics().bypassed == plain - 1);
  CHECK(rig.window.statistics().cache.pending_hits == 1);
}

TEST_CASE("window: before a cache is due, cheap gets count for less, and unknown ones for two microseconds") {
  window::CacheDue due(1e-3);
  due.made(499, 0);
  CHECK(!due.is_due());
  due.made(1, 0);
  CHECK(due.is_due());
  window::CacheDue cheap(1e-3);
  cheap.made(49'999, 0.2e-6);  // a tenth of what counts in full
  CHECK(!cheap.is_due());
  cheap.made(2, 0.2e-6);
  CHECK(cheap.is_due());
  window::CacheDue far(1e-3);
  far.made(10, 100e-6);
  CHECK(far.is_due());
}

TEST_CASE("window: what was written before there was a cache is under way until a flush reaches the target") {
  window::Options options;
  options.without_cache_s = 1e-9;  // the first get makes one
  Rig rig(options, 3, 4096);
  std::byte byte{};
  rig.put(&byte, 1, MPI_BYTE, 1, {64, 1, MPI_BYTE});
  rig.get(&byte, 1, 1, 0);
  int local = 0, remote = 0;
  rig.window.flush_local(1, [&] { return ++local, MPI_SUCCESS; });
  rig.window.flush(1, [&] { return ++remote, MPI_SUCCESS; });
  rig.window.flush(1, [&] { return ++remote, MPI_SUCCESS; });
  CHECK(local == 1);
  CHECK(remote == 1);
}

TEST_CASE("window: flushes that complete what is not tracked say nothing of how long gets take") {
  window::Options options;
  Rig rig(options, 3, 4096);
  std::byte byte{};
  const auto slow = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return MPI_SUCCESS;
  };
  for (int i = 0; i < 3; ++i) {
    rig.put(&byte, 1, MPI_BYTE, 1, {64, 1, MPI_BYTE});
    rig.get(&byte, 1, 1, 0);
    rig.window.flush(1, slow);
  }
  // Three gets of 2 ms would make the cache due.
  rig.get(&byte, 1, 1, 0);
  CHECK(rig.window.statistics().bypassed == 4);
  CHECK(rig.window.statistics().bytes == 0);
}

TEST_CASE(
    "window: nothing is tracked while no target asks the cache, and all that was is under way afterwards") {
  window::Options options;
  options.without_cache_s = 1e-9;  // the first get makes one
  Rig rig(options, 4, 4096);
  std::byte into[16];
  const auto reaches = [&](int rank) {
    int calls = 0;
    rig.window.flush(rank, [&] { return ++calls, MPI_SUCCESS; });
    return calls == 1;
  };
  // Each get misses, and takes less than looking it up.
  for (int i = 0; i < 4096; ++i) {
    rig.get(into, 16, 1, 16 * (i % 256));
    rig.flush(1);
  }
  CHECK(rig.window.statistics().bypassed > 1024);
  CHECK(reaches(1));  // nobody knows whether it need be
  CHECK(reaches(1));
  rig.put(into, 1, MPI_BYTE, 1, {64, 1, MPI_BYTE});
  rig.get(into, 16, 2, 0);  // this one asks
  rig.get(into, 16, 2, 0);
  CHECK(rig.window.statistics().cache.pending_hits == 1);
  CHECK(reaches(2));
  CHECK(reaches(1));
  CHECK(!reaches(1));
  CHECK(!reaches(2));
}
