#include "cache/cache.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"

using namespace wherry::cache;
using Bytes = std::vector<std::byte>;

namespace {

/// Memory of some ranks, and a cache in front of it: what a window and its user would be.
class World {
 public:
  World(std::size_t targets, std::size_t bytes, const CacheOptions& options) : cache(options) {
    for (std::size_t target = 0; target < targets; ++target) {
      memory.emplace_back(bytes);
      for (std::size_t i = 0; i < bytes; ++i)
        memory[target][i] = static_cast<std::byte>(7 * i + 31 * target + i / 251);
    }
  }

  /// A get whose fetches are filled at once.
  Answer get(const TargetRange& range) {
    Bytes destination(range.bytes, std::byte{0xee});
    const Answer answer = cache.lookup(range, destination.data());
    fetched.clear();
    const std::vector<Missing> missing(cache.missing().begin(), cache.missing().end());
    if (answer == Answer::missing)
      for (const Missing& each : missing) {
        const TargetRange part{range.target, range.displacement + each.offset, each.bytes};
        fetched.push_back(part);
        std::memcpy(destination.data() + each.offset, at(part), each.bytes);
        if (each.ticket != 0) cache.filled(each.ticket, destination.data() + each.offset);
      }
    CHECK(std::memcmp(destination.data(), at(range), range.bytes) == 0);
    return answer;
  }

  std::byte* at(const TargetRange& range) { return memory[range.target].data() + range.displacement; }

  Cache cache;
  std::vector<Bytes> memory;
  std::vector<TargetRange> fetched;  // by the last get
};

CacheOptions small(Mode mode = Mode::user_defined) {
  return {.mode = mode, .ceiling_bytes = 1 << 20, .storage_bytes = 1 << 19, .index_entries = 1024};
}

}  // namespace

TEST_CASE("cache: a miss in a block asks for all of it, once") {
  World world(2, 10000, small());
  const TargetRange block{1, 1024, 512};
  Bytes first(40), second(8), whole(512);
  CHECK(world.cache.lookup_in_block(block, {1, 1100, 40}, first.data()) == Answer::block);
  REQUIRE(world.cache.missing().size() == 1);
  const Missing fetch = world.cache.missing()[0];
  CHECK(fetch.offset == 0);
  CHECK(fetch.bytes == 512);
  CHECK(world.cache.lookup_in_block(block, {1, 1500, 8}, second.data()) == Answer::pending);
  world.cache.filled(fetch.ticket, world.at(block));
  CHECK(std::memcmp(first.data(), world.at({1, 1100, 40}), 40) == 0);
  CHECK(std::memcmp(second.data(), world.at({1, 1500, 8}), 8) == 0);
  CHECK(world.cache.lookup_in_block(block, block, whole.data()) == Answer::hit);
  CHECK(std::memcmp(whole.data(), world.at(block), 512) == 0);
  CHECK(world.get({1, 1030, 100}) == Answer::hit);
  const Statistics& seen = world.cache.statistics();
  CHECK(seen.missed(Cause::compulsory) == 1);
  CHECK(seen.pending_hits == 1);
  CHECK(seen.full_hits == 2);
  CHECK(seen.bytes_fetched == 512);
}

TEST_CASE(
    "cache: of a block that is there in parts, or deserves no room, only what is missing is asked for") {
  World world(2, 1 << 20, small());
  Bytes into(40);
  CHECK(world.get({1, 1024, 20}) == Answer::missing);
  CHECK(world.cache.lookup_in_block({1, 1024, 512}, {1, 1100, 40}, into.data()) == Answer::missing);
  CHECK(world.cache.missing()[0].bytes == 40);
  const TargetRange huge{1, 0, 1 << 19};
  CHECK(world.cache.lookup_in_block(huge, {1, 4096, 40}, into.data()) == Answer::missing);
  CHECK(world.cache.missing()[0].bytes == 40);
}

TEST_CASE("cache: the same range again is a hit, and so is a part of it") {
  World world(2, 10000, small());
  CHECK(world.get({1, 100, 1000}) == Answer::missing);
  CHECK(world.get({1, 100, 1000}) == Answer::hit);
  CHECK(world.get({1, 100, 10}) == Answer::hit);
  CHECK(world.get({1, 300, 500}) == Answer::hit);
  CHECK(world.get({1, 1099, 1}) == Answer::hit);
  CHECK(world.get({0, 100, 1000}) == Answer::missing);
  const Statistics& seen = world.cache.statistics();
  CHECK(seen.full_hits == 4);
  CHECK(seen.missed(Cause::compulsory) == 2);
  CHECK(seen.bytes_saved == 1000 + 10 + 500 + 1);
  CHECK(seen.bytes_fetched == 2000);
  CHECK(world.cache.entries() == 2);
}

TEST_CASE("cache: of a range that is partly cached only the rest is fetched") {
  World world(1, 10000, small());
  world.get({0, 100, 100});
  world.get({0, 300, 100});
  CHECK(world.get({0, 0, 500}) == Answer::missing);
  CHECK(world.fetched == std::vector<TargetRange>{{0, 0, 100}, {0, 200, 100}, {0, 400, 100}});
  CHECK(world.cache.statistics().partial_hits == 1);
  CHECK(world.cache.statistics().bytes_saved == 200);
  // All of it is one entry now.
  CHECK(world.cache.entries() == 1);
  CHECK(world.get({0, 0, 500}) == Answer::hit);
  // What reaches out of a cached range stays on its own.
  CHECK(world.get({0, 450, 100}) == Answer::missing);
  CHECK(world.fetched == std::vector<TargetRange>{{0, 500, 50}});
  CHECK(world.cache.entries() == 2);
  CHECK(world.get({0, 450, 100}) == Answer::hit);
}

TEST_CASE("cache: what is absent is noted when it is asked for") {
  World world(1, 1000, small());
  Bytes into(100, std::byte{0xa5}), untouched = into;
  CHECK(world.cache.probe({0, 0, 100}, into.data()) == Answer::absent);
  CHECK(into == untouched);
  CHECK(world.cache.statistics().lookups() == 0);
  CHECK(world.cache.under_way() == 0);
  world.cache.ask({0, 0, 100});
  CHECK(world.cache.statistics().lookups() == 1);
  REQUIRE(world.cache.missing().size() == 1);
  const Missing all = world.cache.missing()[0];
  CHECK((all.offset == 0 && all.bytes == 100));
  CHECK(world.cache.probe({0, 20, 10}, into.data()) == Answer::pending);
  world.cache.filled(all.ticket, world.at({0, 0, 100}));
  CHECK(world.cache.probe({0, 0, 100}, into.data()) == Answer::hit);
  CHECK(std::memcmp(into.data(), world.at({0, 0, 100}), 100) == 0);
  // A part of it is there: that is for lookup() and probe() alike.
  Bytes more(150);
  CHECK(world.cache.probe({0, 0, 150}, more.data()) == Answer::missing);
  world.cache.filled(world.cache.missing()[0].ticket, world.at({0, 100, 50}));
}

TEST_CASE("cache: what is being fetched is not fetched again") {
  World world(1, 1000, small());
  Bytes first(100), second(60), third(150);
  REQUIRE(world.cache.lookup({0, 0, 100}, first.data()) == Answer::missing);
  const Ticket ticket = world.cache.missing()[0].ticket;
  REQUIRE(ticket != 0);
  CHECK(world.cache.lookup({0, 20, 60}, second.data()) == Answer::pending);
  CHECK(world.cache.lookup({0, 0, 150}, third.data()) == Answer::missing);
  REQUIRE(world.cache.missing().size() == 1);
  CHECK(world.cache.missing()[0].offset == 100);
  CHECK(world.cache.under_way() == 2);
  std::memcpy(third.data() + 100, world.at({0, 100, 50}), 50);
  world.cache.filled(world.cache.missing()[0].ticket, third.data() + 100);
  world.cache.filled(ticket, world.at({0, 0, 100}));
  CHECK(std::memcmp(second.data(), world.at({0, 20, 60}), 60) == 0);
  CHECK(std::memcmp(third.data(), world.at({0, 0, 150}), 150) == 0);
  CHECK(world.cache.under_way() == 0);
  CHECK(world.cache.statistics().pending_hits == 1);
  CHECK(world.cache.statistics().partial_hits == 1);
  CHECK(world.get({0, 0, 150}) == Answer::hit);
}

TEST_CASE("cache: the end of an epoch invalidates in transparent mode only") {
  for (const Mode mode : {Mode::transparent, Mode::always_cache, Mode::user_defined}) {
    World world(1, 1000, small(mode));
    world.get({0, 0, 64});
    world.cache.end_epoch();
    CHECK(world.get({0, 0, 64}) == (mode == Mode::transparent ? Answer::missing : Answer::hit));
    world.cache.invalidate();
    CHECK(world.get({0, 0, 64}) == Answer::missing);
    CHECK(world.cache.statistics().missed(Cause::invalidated) == (mode == Mode::transparent ? 2 : 1));
  }
}

TEST_CASE("cache: fetches that are under way when it is invalidated serve who waits, and leave nothing") {
  World world(1, 1000, small());
  Bytes first(100), second(100);
  REQUIRE(world.cache.lookup({0, 0, 100}, first.data()) == Answer::missing);
  const Ticket ticket = world.cache.missing()[0].ticket;
  REQUIRE(world.cache.lookup({0, 0, 100}, second.data()) == Answer::pending);
  world.cache.invalidate();
  CHECK(world.get({0, 50, 200}) == Answer::missing);
  world.cache.filled(ticket, world.at({0, 0, 100}));
  CHECK(std::memcmp(second.data(), world.at({0, 0, 100}), 100) == 0);
  CHECK(world.get({0, 0, 50}) == Answer::missing);
  CHECK(world.get({0, 50, 200}) == Answer::hit);
}

TEST_CASE("cache: own writes update what they overlap, or drop it") {
  World world(1, 1000, small());
  world.get({0, 0, 100});
  world.get({0, 100, 100});
  const Bytes news(60, std::byte{0x55});
  std::memcpy(world.at({0, 70, 60}), news.data(), 60);
  world.cache.written({0, 70, 60}, news.data());
  CHECK(world.cache.statistics().updated == 2);
  CHECK(world.get({0, 0, 100}) == Answer::hit);
  CHECK(world.get({0, 100, 100}) == Answer::hit);
  world.memory[0][150] = std::byte{1};
  world.cache.written({0, 150, 1});
  CHECK(world.cache.statistics().dropped == 1);
  CHECK(world.get({0, 0, 100}) == Answer::hit);
  CHECK(world.get({0, 100, 100}) == Answer::missing);
  CHECK(world.cache.statistics().missed(Cause::invalidated) == 1);
}

TEST_CASE("cache: a write to what is being fetched keeps it out of the cache") {
  World world(1, 1000, small());
  Bytes first(100);
  REQUIRE(world.cache.lookup({0, 0, 100}, first.data()) == Answer::missing);
  const Ticket ticket = world.cache.missing()[0].ticket;
  const Bytes old(world.at({0, 0, 100}), world.at({0, 0, 100}) + 100);
  world.memory[0][10] = std::byte{99};
  world.cache.written({0, 10, 1});
  world.cache.filled(ticket, old.data());
  CHECK(world.get({0, 0, 100}) == Answer::missing);
}

TEST_CASE("cache: a fetch that failed leaves nothing") {
  World world(1, 1000, small());
  Bytes first(100);
  REQUIRE(world.cache.lookup({0, 0, 100}, first.data()) == Answer::missing);
  world.cache.abandoned(world.cache.missing()[0].ticket);
  CHECK(world.cache.under_way() == 0);
  CHECK(world.cache.entries() == 0);
  CHECK(world.get({0, 0, 100}) == Answer::missing);
}

TEST_CASE("cache: displacements of 64 bits do not alias") {
  Cache cache(small());
  Bytes number(8);
  const auto value = [](std::uint64_t displacement) { return displacement * 0x9e3779b97f4a7c15ULL; };
  for (int pass = 0; pass < 2; ++pass)
    for (std::uint64_t bit = 3; bit < 63; ++bit) {
      const std::uint64_t displacement = std::uint64_t{1} << bit;
      const Answer answer = cache.lookup({0, displacement, 8}, number.data());
      CHECK(answer == (pass == 0 ? Answer::missing : Answer::hit));
      const std::uint64_t content = value(displacement);
      if (pass == 1) CHECK(std::memcmp(number.data(), &content, 8) == 0);
      if (pass == 0) cache.filled(cache.missing()[0].ticket, reinterpret_cast<const std::byte*>(&content));
    }
}

TEST_CASE("cache: 2000 ranges at any stride hit in the second pass") {
  for (const std::uint64_t stride : {8, 16, 24, 64, 1000, 4096, 1 << 20})
    for (const std::size_t entries : {2400, 2500, 3000, 4096, 5000}) {
      CAPTURE(stride);
      CAPTURE(entries);
      Cache cache({.mode = Mode::always_cache,
                   .storage_bytes = 1 << 20,
                   .index_entries = entries,
                   .adaptive = false});
      Bytes number(8);
      for (int pass = 0; pass < 2; ++pass)
        for (std::uint64_t i = 0; i < 2000; ++i)
          if (cache.lookup({1, i * stride, 8}, number.data()) == Answer::missing)
            for (const Missing& each : cache.missing())
              if (each.ticket != 0) cache.filled(each.ticket, number.data());
      CHECK(cache.statistics().full_hits >= 1980);
    }
}

TEST_CASE("cache: a peek brings what is there and keeps nothing of what is not") {
  World world(1, 40000, small());
  world.get({0, 0, 20000});
  Bytes under_way(100), seen(20000);
  REQUIRE(world.cache.lookup({0, 30000, 100}, under_way.data()) == Answer::missing);
  const Ticket ticket = world.cache.missing()[0].ticket;
  CHECK(world.cache.peek({0, 0, 20000}, seen.data()) == Answer::hit);
  CHECK(std::memcmp(seen.data(), world.at({0, 0, 20000}), 20000) == 0);
  CHECK(world.cache.peek({0, 19990, 20}, seen.data()) == Answer::missing);
  REQUIRE(world.cache.missing().size() == 1);
  CHECK(world.cache.missing()[0].offset == 10);
  CHECK(world.cache.missing()[0].bytes == 10);
  CHECK(std::memcmp(seen.data(), world.at({0, 19990, 10}), 10) == 0);
  // What is under way is another's.
  CHECK(world.cache.peek({0, 30000, 100}, seen.data()) == Answer::missing);
  CHECK(world.cache.missing()[0].bytes == 100);
  CHECK(world.cache.missing()[0].ticket == 0);
  world.cache.filled(ticket, world.at({0, 30000, 100}));
  CHECK(world.cache.peek({0, 30000, 100}, seen.data()) == Answer::hit);
  CHECK(world.cache.entries() == 2);
  CHECK(world.cache.statistics().full_hits == 2);
  CHECK(world.cache.statistics().partial_hits == 1);
}

TEST_CASE("cache: what is larger than the cache is fetched and forgotten") {
  World world(1, 1 << 20, small());
  CHECK(world.get({0, 0, 1 << 19}) == Answer::missing);
  CHECK(world.get({0, 0, 1 << 19}) == Answer::missing);
  CHECK(world.cache.statistics().too_large == 2);
  CHECK(world.cache.entries() == 0);
}

TEST_CASE("cache: any number of fetches may be under way; what finds no room is fetched without being kept") {
  World world(1, 1 << 20, small());
  std::vector<Ticket> tickets;
  Bytes destination(1 << 20);
  for (std::uint64_t i = 0; i < 4096; ++i) {
    const TargetRange range{0, i * 256, 256};
    REQUIRE(world.cache.lookup(range, destination.data() + i * 256) == Answer::missing);
    tickets.push_back(world.cache.missing()[0].ticket);
    CHECK(world.cache.bytes() <= world.cache.options().ceiling_bytes);
  }
  CHECK(world.cache.statistics().evictions == 0);
  CHECK(world.cache.statistics().refused > 0);
  for (std::uint64_t i = 0; i < 4096; ++i)
    if (tickets[i] != 0) world.cache.filled(tickets[i], world.at({0, i * 256, 256}));
  CHECK(world.get({0, 0, 256}) == Answer::hit);
}

TEST_CASE("cache: ceilings and ranges that cannot be are refused with a reason") {
  CHECK_THROWS_WITH_AS(Cache({.ceiling_bytes = 1000}), doctest::Contains("64 KiB"), wherry::usage_error);
  constexpr std::size_t huge = std::size_t{1} << 50;
  CHECK_THROWS_AS(Cache({.ceiling_bytes = huge, .storage_bytes = huge}), std::bad_alloc);
  CHECK_THROWS_AS(Cache({.ceiling_bytes = huge, .index_entries = huge}), std::bad_alloc);
  Cache cache(small());
  Bytes bytes(8);
  CHECK_THROWS_AS(cache.lookup({0, ~std::uint64_t{0}, 2}, bytes.data()), wherry::usage_error);
  CHECK(cache.lookup({0, 5, 0}, bytes.data()) == Answer::hit);
  // Not even where the beginning is cached.
  constexpr std::uint64_t top = ~std::uint64_t{0};
  bytes.resize(100);
  REQUIRE(cache.lookup({0, top - 200, 100}, bytes.data()) == Answer::missing);
  cache.filled(cache.missing()[0].ticket, bytes.data());
  for (const std::uint64_t at : {top - 190, top - 180})
    CHECK(cache.lookup({0, at, 10}, bytes.data()) == Answer::hit);
  CHECK_THROWS_AS(cache.lookup({0, top - 180, 1000}, bytes.data()), wherry::usage_error);
  CHECK_THROWS_AS(cache.written({0, top - 180, 1000}), wherry::usage_error);
}
