// Programs that read to one place several times before they complete: MPI forbids it, and nothing wrong may be
// remembered.
#include "window/destinations.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "window/rig.hpp"

using namespace window_test;
using window::Written;

namespace {

constexpr int ranks = 4, window_bytes = 2048;

window::Options options_of(cache::Mode mode, bool coalesces, std::size_t block_bytes) {
  window::Options options;
  options.cache.mode = mode;
  options.bypass = false;
  options.coalesces = coalesces;
  options.block_bytes = block_bytes;
  return options;
}

/// Reads all that is in the window, each place to its own, and says how many bytes are wrong.
int wrong_bytes(Rig& rig, int piece) {
  int wrong = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    Bytes into(window_bytes);
    for (int at = 0; at < window_bytes; at += piece) rig.get(into.data() + at, piece, rank, at);
    rig.flush_all();
    for (int at = 0; at < window_bytes; ++at)
      wrong += into[static_cast<std::size_t>(at)] != rig.library.read(rank, at);
  }
  return wrong;
}

/// Some bytes of a window, at random.
struct Somewhere {
  explicit Somewhere(std::mt19937& random)
      : at(static_cast<int>(random() % (window_bytes - 100))), bytes(1 + static_cast<int>(random() % 100)) {}
  int at, bytes;
};

/// Calls use(rig, random) with windows of all kinds, and several seeds.
template <class Use>
void each_kind(Use&& use) {
  for (const cache::Mode mode : {cache::Mode::transparent, cache::Mode::user_defined})
    for (const bool coalesces : {false, true})
      for (const std::size_t block_bytes : {std::size_t{0}, std::size_t{64}})
        for (unsigned seed = 1; seed <= 20; ++seed) {
          CAPTURE(static_cast<int>(mode));
          CAPTURE(coalesces);
          CAPTURE(block_bytes);
          CAPTURE(seed);
          Rig rig(options_of(mode, coalesces, block_bytes), ranks, window_bytes, 1, seed);
          std::mt19937 random(seed);
          use(rig, random);
        }
}

}  // namespace

TEST_CASE("window: the same bytes may be read to the same place again before they have come") {
  each_kind([](Rig& rig, std::mt19937& random) {
    Bytes ghost(window_bytes), wanted(window_bytes);
    for (int i = 0; i < 200; ++i) {
      const Somewhere some(random);
      rig.get(ghost.data() + some.at, some.bytes, 2, some.at);
      for (int b = some.at; b < some.at + some.bytes; ++b)
        wanted[static_cast<std::size_t>(b)] = rig.library.read(2, b);
    }
    rig.flush_all();
    CHECK(ghost == wanted);
    CHECK(wrong_bytes(rig, 16) == 0);
  });
}

TEST_CASE("window: what was read to one place from several is not remembered") {
  each_kind([](Rig& rig, std::mt19937& random) {
    Bytes anywhere(256);
    for (int i = 0; i < 200; ++i) {
      const Somewhere some(random);
      // Of the own rank, too, which is native.
      rig.get(anywhere.data() + random() % 100, some.bytes, static_cast<int>(random() % ranks), some.at);
      if (random() % 16 == 0) rig.flush(static_cast<int>(random() % ranks));
    }
    rig.flush_all();
    CHECK(wrong_bytes(rig, 16) == 0);
    CHECK(wrong_bytes(rig, 64) == 0);
  });
}

TEST_CASE("window: a hit on what has come early to the same place does not pass for it") {
  each_kind([](Rig& rig, std::mt19937& random) {
    Bytes known(window_bytes / 2), into(64);
    rig.get(known.data(), window_bytes / 2, 1, 0);
    rig.flush(1);
    rig.get(into.data(), 64, 1, window_bytes / 2);
    rig.get(into.data(), 64, 1, static_cast<int>(random() % 900));
    rig.flush(1);
    CHECK(wrong_bytes(rig, 64) == 0);
  });
}

TEST_CASE("window: what is read to where a hit was before is remembered, while something else is under way") {
  Rig rig(options_of(cache::Mode::user_defined, false, 0), ranks, window_bytes);
  Bytes into(3 * 64);
  rig.get(into.data(), 64, 1, 0);
  rig.flush(1);
  rig.get(into.data() + 128, 64, 2, 0);
  for (const int at : {512, 1024, 1536}) {
    rig.get(into.data() + 64, 64, 1, at);
    rig.flush(1);
    rig.get(into.data() + 64, 64, 1, 0);
    rig.flush(1);
  }
  const long before = rig.library.gets();
  for (const int at : {512, 1024, 1536}) rig.get(into.data() + 64, 64, 1, at);
  CHECK(rig.library.gets() == before);
}

TEST_CASE("window: a get to a place of its own is right whatever else is read to one place") {
  each_kind([](Rig& rig, std::mt19937& random) {
    Bytes anywhere(256), real(64 * 32), wanted(64 * 32);
    for (int i = 0; i < 64; ++i) {
      const int at = static_cast<int>(random() % 32) * 32, rank = 1 + static_cast<int>(random() % 3);
      rig.get(anywhere.data() + random() % 100, 32, rank, at);
      rig.get(real.data() + 32 * i, 32, rank, at);
      for (int b = 0; b < 32; ++b)
        wanted[static_cast<std::size_t>(32 * i + b)] = rig.library.read(rank, at + b);
      if (random() % 16 == 0) rig.flush(rank);
    }
    rig.flush_all();
    CHECK(real == wanted);
    CHECK(wrong_bytes(rig, 32) == 0);
  });
}

TEST_CASE("window: who waits for what is read to where the library reads something is right") {
  each_kind([](Rig& rig, std::mt19937&) {
    Bytes anywhere(64), real(64), wanted(64);
    rig.get(anywhere.data(), 64, 1, 0);
    rig.get(anywhere.data(), 64, 0, 0);  // of the own rank: not the cache's
    rig.get(real.data(), 64, 1, 0);
    rig.flush_all();
    for (int b = 0; b < 64; ++b) wanted[static_cast<std::size_t>(b)] = rig.library.read(1, b);
    CHECK(real == wanted);
  });
}

TEST_CASE("window: what waits to be copied to a place does not pass for what is read to it") {
  Rig rig(options_of(cache::Mode::user_defined, false, 0), ranks, window_bytes);
  Bytes a(64), b(64);
  rig.get(a.data(), 64, 1, 0);
  rig.get(b.data(), 64, 1, 0);
  rig.get(b.data(), 64, 1, 512);
  rig.flush(1);
  CHECK(wrong_bytes(rig, 64) == 0);
}

TEST_CASE(
    "window: who has always something under way, and reads to two places in turn, finds all that was read "
    "again") {
  Rig rig(options_of(cache::Mode::user_defined, false, 0), ranks, window_bytes);
  Bytes buffers(2 * 256);
  const auto read_all = [&] {
    for (int turn = 0; turn < 64; ++turn) {
      const int rank = 1 + turn % 2;
      for (const int i : {3, 0, 2, 1})
        rig.get(buffers.data() + 256 * (1 - turn % 2) + 64 * i, 64, rank, (turn % 8) * 256 + 64 * i);
      if (turn > 0) rig.flush(3 - rank);
    }
  };
  read_all();
  const long before = rig.library.gets();
  read_all();
  rig.flush_all();
  CHECK(rig.library.gets() == before);
  CHECK(wrong_bytes(rig, 64) == 0);
}

TEST_CASE("window: any number of hits between places that are read to leave these remembered") {
  Rig rig(options_of(cache::Mode::user_defined, false, 0), ranks, window_bytes);
  Bytes into(3 * 64);
  rig.get(into.data() + 64, 64, 1, 0);
  rig.flush(1);
  rig.get(into.data(), 64, 1, 512);
  rig.get(into.data() + 128, 64, 2, 1024);
  for (int i = 0; i < 70000; ++i) rig.get(into.data() + 64, 64, 1, 0);
  rig.flush(1);
  // The get of rank 2 is still under way.
  rig.get(into.data(), 64, 1, 1536);
  rig.flush_all();
  const long before = rig.library.gets();
  rig.get(into.data(), 64, 1, 512);
  rig.get(into.data(), 64, 2, 1024);
  rig.get(into.data(), 64, 1, 1536);
  CHECK(rig.library.gets() == before);
  CHECK(wrong_bytes(rig, 64) == 0);
}

TEST_CASE("window: what comes to places of its own is remembered, in whatever order these lie") {
  Rig rig(options_of(cache::Mode::user_defined, false, 0), ranks, window_bytes);
  Bytes into(window_bytes);
  for (const int at : {1024, 0, 512, 1536, 256}) rig.get(into.data() + at, 64, 1, at);
  rig.flush(1);
  const long before = rig.library.gets();
  for (const int at : {1024, 0, 512, 1536, 256}) rig.get(into.data() + at, 64, 1, at);
  CHECK(rig.library.gets() == before);
  CHECK(rig.window.statistics().cache.full_hits == 5);
}

TEST_CASE("destinations: chains of what overlaps are told apart") {
  Bytes memory(100);
  bool aliased[6] = {};
  const auto written = [&](int at, std::uint64_t bytes, std::uint64_t displacement, int number) {
    return Written{{1, displacement, bytes}, memory.data() + at, 0, number < 0 ? nullptr : aliased + number};
  };
  // The same bytes twice; two that touch; three in a row, of which the last is of another place; and one by nobody.
  std::vector<Written> all = {written(0, 8, 100, 0),  written(4, 8, 104, 1),  written(12, 8, 0, 2),
                              written(40, 20, 40, 3), written(50, 20, 50, 4), written(65, 10, 0, 5),
                              written(74, 4, 0, -1)};
  CHECK(window::note_aliased(all, {}));
  CHECK_FALSE((aliased[0] || aliased[1] || aliased[2]));
  CHECK((aliased[3] && aliased[4] && aliased[5]));
}

TEST_CASE("destinations: a hit mixes what was issued before it, and of other bytes") {
  Bytes memory(100);
  bool before = false, after = false, same = false;
  std::vector<Written> under_way = {{{1, 0, 8}, memory.data(), 1, &before},
                                    {{1, 0, 8}, memory.data(), 3, &after},
                                    {{1, 50, 8}, memory.data() + 50, 1, &same}};
  CHECK_FALSE(window::note_aliased(under_way, {{{2, 0, 8}, memory.data() + 8, 2}}));
  CHECK(window::note_aliased(under_way,
                             {{{2, 0, 60}, memory.data() + 4, 2}, {{1, 50, 2}, memory.data() + 50, 9}}));
  CHECK(before);
  CHECK_FALSE(after);
  CHECK(same);
  same = false;
  CHECK_FALSE(window::note_aliased(under_way, {{{1, 50, 2}, memory.data() + 50, 9}}));
  CHECK_FALSE(same);
}
