// What was not cached is told by reason, and nothing is left out.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "window/rig.hpp"

using namespace window_test;
using window::Amount;
using window::NotCached;

namespace {

Amount of(const Rig& rig, NotCached why) {
  return rig.window.statistics().not_cached[static_cast<std::size_t>(why)];
}

bool is(const Amount& amount, std::uint64_t count, std::uint64_t bytes) {
  CAPTURE(amount.count);
  CAPTURE(amount.bytes);
  CHECK(amount.count == count);
  CHECK(amount.bytes == bytes);
  return amount.count == count && amount.bytes == bytes;
}

}  // namespace

TEST_CASE("window: gets of the own rank, without data and by request are told apart") {
  Rig rig(user(), 3, 4096);
  Bytes into(100);
  for (int i = 0; i < 3; ++i) rig.get(into.data(), 100, 0, 8);
  CHECK(is(of(rig, NotCached::own_memory), 3, 300));
  rig.get(into.data(), 0, 1, 8);
  CHECK(is(of(rig, NotCached::arguments), 1, 0));
  MPI_Request request = MPI_REQUEST_NULL;
  rig.rget(into.data(), 40, MPI_BYTE, 1, {80, 40, MPI_BYTE}, &request);
  rig.library.wait(request);
  CHECK(is(of(rig, NotCached::by_request), 1, 40));
  rig.flush_all();
  CHECK(rig.window.statistics().passed == 5);
}

TEST_CASE("window: an atomic read is native in transparent mode") {
  window::Options options = user();
  options.cache.mode = cache::Mode::transparent;
  Rig rig(options, 2, 4096);
  Bytes into(8);
  rig.window.read_atomically({into.data(), 8, MPI_BYTE}, {1, 0, 8, MPI_BYTE}, [&] {
    return rig.library.get(data_at(into.data(), 8, MPI_BYTE), 1, {0, 8, MPI_BYTE});
  });
  rig.flush(1);
  CHECK(is(of(rig, NotCached::atomic), 1, 8));
}

TEST_CASE("window: what is too large for the cache is fetched and not kept") {
  window::Options options = user();
  options.cache.ceiling_bytes = options.cache.storage_bytes = 65536;
  Rig rig(options, 2, 65536);
  for (int i = 0; i < 3; ++i) CHECK(read(rig, 1, 0, 20000) == content(rig, 1, 0, 20000));
  CHECK(is(of(rig, NotCached::exceeds), 3, 60000));
  CHECK(rig.window.statistics().cache.missed() == 3);
  CHECK(rig.window.statistics().passed == 0);
}

TEST_CASE("window: a place that two gets share keeps neither") {
  Rig rig(user(), 2, 4096);
  Bytes into(64);
  rig.get(into.data(), 64, 1, 0);
  rig.get(into.data(), 64, 1, 1024);
  rig.flush(1);
  const Amount aliased = of(rig, NotCached::aliased);
  CHECK(aliased.count >= 1);
  CHECK(aliased.bytes == 64 * aliased.count);
}

TEST_CASE("window: native gets by reason are all native gets, with their bytes") {
  constexpr unsigned seeds = 200;
  std::array<std::uint64_t, window::not_cached_reasons> all{};
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    window::Options options = user();
    options.bypass = seed % 2 == 0;
    if (seed % 3 == 0) options.cache.mode = cache::Mode::transparent;
    options.without_cache_s = 1e-4;
    Rig rig(options, 3, 8192);
    Bytes into(1000);
    std::uint64_t bytes = 0;
    for (int i = 0; i < 300; ++i) {
      const int rank = static_cast<int>(random() % 3), count = static_cast<int>(1 + random() % 900);
      const auto at = static_cast<std::int64_t>(random() % 7000);
      const std::uint64_t before = rig.window.statistics().passed + rig.window.statistics().bypassed;
      if (random() % 4 == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        rig.rget(into.data(), count, MPI_BYTE, rank, {at, count, MPI_BYTE}, &request);
        rig.library.wait(request);
      } else {
        rig.get(into.data(), count, rank, at);
      }
      const window::WindowStatistics now = rig.window.statistics();
      if (now.passed + now.bypassed > before) bytes += static_cast<std::uint64_t>(count);
      if (random() % 3 == 0) rig.flush_all();
    }
    rig.flush_all();
    const window::WindowStatistics s = rig.window.statistics();
    Amount native;
    for (std::size_t why = 0; why <= static_cast<std::size_t>(NotCached::too_few); ++why) {
      native.count += s.not_cached[why].count;
      native.bytes += s.not_cached[why].bytes;
      all[why] += s.not_cached[why].count;
    }
    REQUIRE(native.count == s.passed + s.bypassed);
    REQUIRE(native.bytes <= bytes);
    if (!options.bypass) REQUIRE(native.bytes == bytes);
  }
  for (const NotCached why : {NotCached::own_memory, NotCached::by_request, NotCached::too_few})
    CHECK(all[static_cast<std::size_t>(why)] > 100);
}
