// Gets and what completes them.
#include <doctest/doctest.h>

#include "window/rig.hpp"

using namespace window_test;

TEST_CASE("window: what is missing of a get comes in one message, of whatever type") {
  Rig rig(user(), 2, 4096);
  for (const int at : {10, 30, 50, 70}) read(rig, 1, at, 10);
  const long before = rig.library.gets();
  CHECK(read(rig, 1, 0, 100) == content(rig, 1, 0, 100));
  CHECK(rig.library.gets() == before + 1);
  CHECK(rig.window.statistics().cache.bytes_fetched == 40 + 60);
  // With gaps at both ends: 8 bytes of every 16.
  const MPI_Datatype gaps = rig.library.make_type({{0, 8}}, 16);
  Bytes into(16 * 20, std::byte{0xa5}), expected = into;
  rig.get(into.data(), 20, gaps, 1, {0, 20, gaps});
  rig.flush(1);
  CHECK(rig.library.gets() == before + 2);
  CHECK(rig.window.statistics().cache.bytes_fetched == 100 + 8 * 20 - 52);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (i % 16 < 8) expected[i] = rig.library.read(1, static_cast<std::int64_t>(i));
  CHECK(into == expected);
  rig.library.free_type(gaps);
}

TEST_CASE("window: the library is asked before the cache makes room") {
  Rig rig(user(), 2, 4096);
  std::byte into[16];
  std::size_t entries_then = 1;
  rig.window.get({into, 16, MPI_BYTE}, {1, 64, 16, MPI_BYTE}, 1, [&] {
    entries_then = rig.window.statistics().entries;
    return rig.library.get(data_at(into, 16, MPI_BYTE), 1, {64, 16, MPI_BYTE});
  });
  // The first get of a type is looked at closely; the second is the common case.
  rig.window.get({into, 16, MPI_BYTE}, {1, 128, 16, MPI_BYTE}, 1, [&] {
    entries_then = rig.window.statistics().entries;
    return rig.library.get(data_at(into, 16, MPI_BYTE), 1, {128, 16, MPI_BYTE});
  });
  CHECK(entries_then == 1);
  CHECK(rig.window.statistics().entries == 2);
  rig.flush(1);
}

TEST_CASE("window: a get by request asks for what is not there, and needs no flush") {
  Rig rig(user(), 2, 4096);
  read(rig, 1, 100, 50);
  MPI_Request request = MPI_REQUEST_NULL;
  Bytes into(100);
  SUBCASE("part of it is there") {
    rig.rget(into.data(), 100, MPI_BYTE, 1, {120, 100, MPI_BYTE}, &request);
    rig.library.wait(request);
    CHECK(into == content(rig, 1, 120, 100));
    CHECK(rig.window.statistics().cache.partial_hits == 1);
    CHECK(rig.window.statistics().cache.bytes_fetched == 50 + 70);
  }
  SUBCASE("what is missing is two blocks, which not every library has when their request is complete") {
    rig.rget(into.data(), 100, MPI_BYTE, 1, {80, 100, MPI_BYTE}, &request);
    rig.library.wait(request);
    CHECK(into == content(rig, 1, 80, 100));
    CHECK(rig.window.statistics().passed == 1);
  }
  SUBCASE("all of it is there") {
    into.resize(20);
    rig.rget(into.data(), 20, MPI_BYTE, 1, {110, 20, MPI_BYTE}, &request);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(into == content(rig, 1, 110, 20));
    CHECK(rig.window.statistics().cache.full_hits == 1);
  }
  SUBCASE("nothing of it is there") {
    rig.rget(into.data(), 100, MPI_BYTE, 1, {1000, 100, MPI_BYTE}, &request);
    rig.library.wait(request);
    CHECK(into == content(rig, 1, 1000, 100));
    CHECK(rig.window.statistics().passed == 1);
  }
  SUBCASE("what is under way has another's end") {
    Bytes pending(100);
    rig.get(pending.data(), 100, 1, 200);
    rig.rget(into.data(), 100, MPI_BYTE, 1, {200, 100, MPI_BYTE}, &request);
    rig.library.wait(request);
    CHECK(into == content(rig, 1, 200, 100));
    rig.flush(1);
  }
  SUBCASE("with gaps at the origin, which stay") {
    const MPI_Datatype gaps = rig.library.make_type({{0, 5}}, 8);
    Bytes spread(8 * 20, std::byte{0xa5}), expected = spread;
    rig.rget(spread.data(), 20, gaps, 1, {80, 100, MPI_BYTE}, &request);
    rig.library.wait(request);
    const Bytes data = content(rig, 1, 80, 100);
    for (std::size_t i = 0; i < 100; ++i) expected[i / 5 * 8 + i % 5] = data[i];
    CHECK(spread == expected);
    CHECK(rig.window.statistics().passed == 1);
    rig.library.free_type(gaps);
  }
  rig.flush(1);
}

TEST_CASE("window: adjacent gets of an epoch are one message, if the program asks for it") {
  for (const bool coalesces : {false, true}) {
    Rig rig(user(coalesces), 3, 4096, 8);
    Bytes near(400), far(40), other(40);
    for (int i = 9; i >= 0; --i) rig.get(near.data() + i * 40, 40, 1, 800 + i * 40);
    rig.get(far.data(), 40, 1, 0);
    rig.get(other.data(), 40, 2, 1200);
    CHECK(rig.library.gets() == (coalesces ? 0 : 12));
    rig.flush(1);
    CHECK(rig.library.gets() == (coalesces ? 2 : 12));
    CHECK(near == content(rig, 1, 800, 400));
    CHECK(far == content(rig, 1, 0, 40));
    rig.flush_all();
    CHECK(rig.library.gets() == (coalesces ? 3 : 12));
    CHECK(other == content(rig, 2, 1200, 40));
    // Each is remembered.
    CHECK(read(rig, 1, 840, 40) == content(rig, 1, 840, 40));
    CHECK(rig.window.statistics().cache.full_hits == 1);
  }
}

TEST_CASE("window: every completion asks for what was held back") {
  const auto complete = [](Rig& rig, int way) {
    switch (way) {
      case 0: return rig.flush(1);
      case 1: return rig.flush_all();
      case 2: return rig.flush_local(1);
      case 3: return rig.flush_local_all();
      case 4: return rig.unlock(1);
      default: return rig.end_epoch();
    }
  };
  for (int way = 0; way < 6; ++way) {
    CAPTURE(way);
    Rig rig(user(true), 2, 4096);
    Bytes into(100);
    rig.get(into.data(), 100, 1, 64);
    CHECK(complete(rig, way) == MPI_SUCCESS);
    CHECK(into == content(rig, 1, 64, 100));
    rig.library.fail_gets(true);
    rig.get(into.data(), 100, 1, 1064);
    CHECK(complete(rig, way) == MPI_ERR_OTHER);
    rig.library.fail_gets(false);
    CHECK(read(rig, 1, 1064, 100) == content(rig, 1, 1064, 100));
  }
}

TEST_CASE("window: a get that fails leaves nothing") {
  Rig rig(user(), 2, 4096);
  Bytes into(100);
  rig.library.fail_gets(true);
  CHECK(rig.get(into.data(), 100, 1, 0) == MPI_ERR_OTHER);
  rig.library.fail_gets(false);
  rig.flush(1);
  CHECK(read(rig, 1, 0, 100) == content(rig, 1, 0, 100));
  CHECK(rig.window.statistics().cache.full_hits == 0);
}

TEST_CASE("window: a miss brings the block around it, if the program asks for it") {
  window::Options options = user();
  options.block_bytes = 256;
  Rig rig(options, 2, 1000, 8);  // blocks from 0, 256, 512 and 768 on
  CHECK(read(rig, 1, 264, 16) == content(rig, 1, 264, 16));
  CHECK(rig.window.statistics().cache.bytes_fetched == 256);
  for (int at = 256; at + 24 <= 512; at += 8) CHECK(read(rig, 1, at, 24) == content(rig, 1, at, 24));
  CHECK(rig.library.gets() == 1);
  // A get that reaches into two blocks fetches those that are missing, and the last one ends where the target's memory
  // does.
  CHECK(read(rig, 1, 400, 400) == content(rig, 1, 400, 400));
  CHECK(rig.window.statistics().cache.bytes_fetched == 256 + 512 - 24);
  CHECK(rig.library.gets() == 2);
  CHECK(rig.window.statistics().cache.missed() == 3);
  CHECK(read(rig, 1, 0, 16) == content(rig, 1, 0, 16));
  CHECK(rig.window.statistics().cache.bytes_fetched == 1000);
}

TEST_CASE("window: gets of one block that are under way are one message, and a failed one leaves nothing") {
  window::Options options = user();
  options.block_bytes = 1024;
  Rig rig(options, 2, 4096);
  Bytes a(10), b(20);
  rig.library.fail_gets(true);
  CHECK(rig.get(a.data(), 10, 1, 100) == MPI_ERR_OTHER);
  rig.library.fail_gets(false);
  rig.flush(1);
  const long before = rig.library.gets();
  rig.get(a.data(), 10, 1, 100);
  rig.get(b.data(), 20, 1, 1000);
  rig.window.invalidate();
  rig.flush(1);
  CHECK(rig.library.gets() == before + 1);
  CHECK(a == content(rig, 1, 100, 10));
  CHECK(b == content(rig, 1, 1000, 20));
  read(rig, 1, 100, 10);
  CHECK(rig.library.gets() == before + 2);
}

TEST_CASE("window: in transparent mode nothing is fetched that nobody asked for") {
  window::Options options = user();
  options.cache.mode = cache::Mode::transparent;
  options.block_bytes = 1024;
  Rig rig(options, 2, 4096);
  read(rig, 1, 100, 10);
  CHECK(rig.window.statistics().cache.bytes_fetched == 10);
}

TEST_CASE("window: how the cache came to its size is told") {
  window::Options options = user();
  options.cache.storage_bytes = 4096;
  Rig rig(options, 2, 1 << 20);
  for (int pass = 0; pass < 4; ++pass)
    for (int at = 0; at < 1 << 16; at += 64) read(rig, 1, at, 64);
  const std::vector<cache::Adjustment> steps = rig.window.adjustments();
  REQUIRE(steps.size() >= 2);
  CHECK(steps.size() == rig.window.statistics().cache.adjustments);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    CHECK(steps[i].lookups > steps[i - 1].lookups);
    CHECK(steps[i].storage_bytes > steps[i - 1].storage_bytes);
  }
}
