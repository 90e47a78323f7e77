// What other ranks of the node have read.
#include <doctest/doctest.h>

#include "window/rig.hpp"

using namespace window_test;

TEST_CASE("window: what another rank of the node has read is not fetched") {
  Rig rig(user(), 2, 4096);
  cache::NodeCache& node = rig.share();
  const Bytes offered = content(rig, 1, 64, 96);
  REQUIRE(node.keep({1, 64, 96}, 1, offered.data()));
  CHECK(read(rig, 1, 64, 96) == offered);
  CHECK(rig.library.gets() == 0);
  CHECK(read(rig, 1, 64, 96) == offered);
  window::WindowStatistics s = rig.window.statistics();
  CHECK(s.node.found == 1);
  CHECK(s.cache.missed() == 1);
  CHECK(s.cache.full_hits == 1);
  CHECK(s.cache.bytes_fetched == 0);
  CHECK(s.cache.bytes_saved == 2 * 96);
  // Of a range that is partly there only the rest is fetched.
  REQUIRE(node.keep({1, 160, 40}, 1, content(rig, 1, 160, 40).data()));
  CHECK(read(rig, 1, 0, 160) == content(rig, 1, 0, 160));
  CHECK(read(rig, 1, 160, 100) == content(rig, 1, 160, 100));
  CHECK(rig.library.gets() == 2);
  s = rig.window.statistics();
  CHECK(s.cache.bytes_fetched == 64 + 100);
  // 64 and 100 bytes are offered.
  CHECK(s.node.offered == 2);
  CHECK(s.node.refused == 0);
  Bytes found(100);
  CHECK(node.find({1, 160, 100}, 1, found.data()));
  CHECK(found == content(rig, 1, 160, 100));
}

TEST_CASE("window: what is on the node and what is under way come together, to an origin with gaps") {
  Rig rig(user(), 2, 4096);
  cache::NodeCache& node = rig.share();
  Bytes first(40);
  rig.get(first.data(), 40, 1, 0);
  REQUIRE(node.keep({1, 40, 40}, 1, content(rig, 1, 40, 40).data()));
  const MPI_Datatype gaps = rig.library.make_type({{0, 5}}, 8);
  Bytes spread(8 * 16, std::byte{0xa5}), expected = spread;
  rig.get(spread.data(), 16, gaps, 1, {0, 80, MPI_BYTE});
  CHECK(rig.window.statistics().node.found == 1);
  rig.flush(1);
  CHECK(rig.library.gets() == 1);
  const Bytes data = content(rig, 1, 0, 80);
  for (std::size_t i = 0; i < 80; ++i) expected[i / 5 * 8 + i % 5] = data[i];
  CHECK(spread == expected);
  rig.library.free_type(gaps);
}

TEST_CASE(
    "window: what is offered to the node is of the phase in which it was asked for, and no write of this "
    "rank is near") {
  Rig rig(user(), 2, 4096);
  cache::NodeCache& node = rig.share();
  Bytes into(64), found(64);
  SUBCASE("an invalidation comes between") {
    rig.get(into.data(), 64, 1, 0);
    rig.window.invalidate();
    rig.flush(1);
    CHECK_FALSE(node.find({1, 0, 64}, 1, found.data()));
    CHECK_FALSE(node.find({1, 0, 64}, 2, found.data()));
  }
  SUBCASE("a write is under way") {
    rig.put(Bytes(8).data(), 8, MPI_BYTE, 1, {32, 8, MPI_BYTE});
    rig.get(into.data(), 64, 1, 0);
    rig.flush(1);
    CHECK_FALSE(node.find({1, 0, 64}, 1, found.data()));
  }
  SUBCASE("a write follows") {
    rig.get(into.data(), 64, 1, 0);
    rig.put(Bytes(8).data(), 8, MPI_BYTE, 1, {32, 8, MPI_BYTE});
    rig.flush(1);
    CHECK_FALSE(node.find({1, 0, 64}, 1, found.data()));
  }
  CHECK(rig.window.statistics().node.offered == 0);
}

TEST_CASE("window: a rank that writes does not read what others of its node may have read before") {
  Rig rig(user(), 2, 4096);
  cache::NodeCache& node = rig.share();
  const Bytes old = content(rig, 1, 0, 64), news(8, std::byte{0x77});
  std::uint64_t phase = 1;
  rig.put(news.data(), 8, MPI_BYTE, 1, {32, 8, MPI_BYTE});
  SUBCASE("while it is under way") {}
  SUBCASE("in the phase in which it got there") { rig.flush(1); }
  SUBCASE("and in the next one, if it got there then") {
    rig.window.invalidate();
    ++phase;
    rig.flush(1);
  }
  node.keep({1, 0, 64}, phase, old.data());
  read(rig, 1, 0, 64);
  CHECK(rig.window.statistics().node.found == 0);
  // What races with the write may be old.
  CHECK(read(rig, 1, 0, 64) == content(rig, 1, 0, 64));
  // Then it shares again.
  rig.window.invalidate();
  node.keep({1, 128, 64}, phase + 1, content(rig, 1, 128, 64).data());
  CHECK(read(rig, 1, 128, 64) == content(rig, 1, 128, 64));
  CHECK(rig.window.statistics().node.found == 1);
}
