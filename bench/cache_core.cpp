// What does the cache itself cost: a hit on few entries and on many, a miss, an epoch's end? No MPI, one
// thread.
//
//   bench_cache_core --entries 200000 --batches 30
// A sample is the time per lookup of one batch; the least of many batches is the undisturbed time. Prints one
// JSON line per case and variant, as the other benchmarks do.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "samples.hpp"

namespace {

using namespace wherry::cache;
using Buffer = std::vector<std::byte>;

std::uint64_t option(int argc, char** argv, std::string_view name, std::uint64_t fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (name == argv[i]) return std::strtoull(argv[i + 1], nullptr, 10);
  return fallback;
}

/// Seconds per call of `call(i)`, i < calls, in each of some batches; `before()` is not timed.
template <class Before, class Call>
std::vector<double> batches(std::size_t count, std::size_t calls, Before&& before, Call&& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (std::size_t batch = 0; batch < count; ++batch) {
    before();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) call(i);
    samples.push_back(std::chrono::duration<double>(Clock::now() - start).count() /
                      static_cast<double>(calls));
  }
  return samples;
}

/// A get whose bytes come from nowhere: what remains is what the cache does.
bool get(Cache& cache, const TargetRange& range, std::byte* destination) {
  if (cache.lookup(range, destination) == Answer::hit) return true;
  for (const Missing& each : cache.missing())
    if (each.ticket != 0) cache.filled(each.ticket, destination + each.offset);
  return false;
}

/// Places far apart, as in an irregular program.
std::vector<TargetRange> scattered(std::size_t count, std::uint64_t bytes) {
  std::vector<TargetRange> ranges;
  for (std::uint64_t i = 0; i < count; ++i)
    ranges.push_back({static_cast<std::uint32_t>(i % 7), i * 4096 + 64, bytes});
  return ranges;
}

/// Lookups, all of which must hit.
std::vector<double> hit_batches(std::size_t count, Cache& cache, const std::vector<TargetRange>& asked,
                                Buffer& destination) {
  return batches(
      count, asked.size(), [] {},
      [&](std::size_t i) {
        if (cache.lookup(asked[i], destination.data()) != Answer::hit) std::abort();
      });
}

void hits(std::size_t entries, std::uint64_t bytes, std::size_t count) {
  Cache cache({.mode = Mode::always_cache,
               .ceiling_bytes = std::size_t{256} << 20,
               .storage_bytes = std::size_t{128} << 20,
               .index_entries = entries + entries / 2});
  Buffer destination(bytes);
  const std::vector<TargetRange> ranges = scattered(entries, bytes);
  for (const TargetRange& range : ranges) get(cache, range, destination.data());
  // The order of lookups is random, and drawn beforehand.
  std::mt19937_64 random(1);
  std::vector<TargetRange> asked;
  for (std::size_t i = 0; i < 100000; ++i) asked.push_back(ranges[random() % entries]);
  const auto samples = hit_batches(count, cache, asked, destination);
  bench::print(std::to_string(bytes) + " B, " + std::to_string(entries) + " entries", "hit", samples);
}

void parts(std::uint64_t bytes, std::size_t count) {
  Cache cache({.mode = Mode::always_cache});
  Buffer destination(100000);
  get(cache, {0, 0, 100000}, destination.data());
  std::mt19937_64 random(1);
  std::vector<TargetRange> asked;
  for (std::size_t i = 0; i < 100000; ++i) asked.push_back({0, random() % (100000 - bytes), bytes});
  const auto samples = hit_batches(count, cache, asked, destination);
  bench::print(std::to_string(bytes) + " B of 100000 B", "hit", samples);
}

void misses(std::size_t entries, std::uint64_t bytes, std::size_t count) {
  Cache cache({.mode = Mode::user_defined,
               .ceiling_bytes = std::size_t{256} << 20,
               .storage_bytes = std::size_t{128} << 20,
               .index_entries = entries + entries / 2});
  Buffer destination(bytes);
  const std::vector<TargetRange> ranges = scattered(entries, bytes);
  const auto samples = batches(
      count, ranges.size(), [&] { cache.invalidate(); },
      [&](std::size_t i) {
        if (get(cache, ranges[i], destination.data())) std::abort();
      });
  bench::print(std::to_string(bytes) + " B, " + std::to_string(entries) + " entries", "miss", samples);
}

/// Nothing fits that is new: every admission costs an eviction. All misses count.
void evictions(std::uint64_t bytes, std::size_t count) {
  Cache cache({.mode = Mode::user_defined,
               .ceiling_bytes = std::size_t{32} << 20,
               .storage_bytes = std::size_t{4} << 20,
               .index_entries = 100000,
               .adaptive = false});
  Buffer destination(bytes);
  std::uint64_t next = 0;
  const auto samples = batches(
      count, 50000, [] {}, [&](std::size_t) { get(cache, {0, ++next * 4096, bytes}, destination.data()); });
  bench::print(std::to_string(bytes) + " B, full cache", "miss", samples);
}

void epochs(std::size_t count) {
  Cache cache({.mode = Mode::always_cache});
  Buffer destination(64);
  get(cache, {0, 0, 64}, destination.data());
  const auto samples = batches(
      count, 100000, [] {},
      [&](std::size_t) {
        cache.lookup({0, 0, 64}, destination.data());
        cache.end_epoch();
      });
  bench::print("64 B, 1 entry", "hit and epoch's end", samples);
}

}  // namespace

int main(int argc, char** argv) {
  const auto many = static_cast<std::size_t>(option(argc, argv, "--entries", 200000));
  const auto count = static_cast<std::size_t>(option(argc, argv, "--batches", 30));
  for (const std::uint64_t bytes : {8, 64}) {
    hits(8, bytes, count);
    hits(many, bytes, count);
    parts(bytes, count);
  }
  for (const std::uint64_t bytes : {8, 1024}) {
    misses(1000, bytes, count);
    misses(many / 4, bytes, count);
    evictions(bytes, count);
  }
  epochs(count);
}
