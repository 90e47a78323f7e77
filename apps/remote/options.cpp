#include "remote/options.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "remote/memory_limit.hpp"

namespace remote {
namespace {

constexpr int least_node_kib = 64, most_kib = 1 << 30;
constexpr int most_entries = 1 << 28;
constexpr int most_block_bytes = 1 << 24;
constexpr int least_ahead_bytes = 64, most_ahead_bytes = 1 << 20;

std::size_t kib(const std::string& text) {
  return static_cast<std::size_t>(apps::whole_number(text, 1, most_kib)) << 10;
}

/// The size of a block, or 0.
std::size_t block_or_none(const std::string& text) {
  const auto bytes = static_cast<unsigned>(apps::whole_number(text, 0, most_ahead_bytes));
  if (bytes != 0 && (bytes < least_ahead_bytes || !std::has_single_bit(bytes)))
    throw apps::usage_error("'" + text + "' is no power of two from " + std::to_string(least_ahead_bytes) +
                            " to " + std::to_string(most_ahead_bytes) + "; write one, or 0 for none");
  return bytes;
}

apps::Option turns(apps::Common& common) {
  return {"--turns", "N",
          "timed runs of each variant, in turns (default " + std::to_string(default_turns) + ")",
          [&](const std::string& text) { common.turns = apps::whole_number(text, 1, 1'000'000); }};
}

}  // namespace

std::vector<apps::Option> options(CacheOptions& cache, apps::Common& common) {
  std::vector<apps::Option> all = {
      {"--cache-kib", "N",
       "memory of each rank's cache of a window; adaptive ones begin with it (default 4096)",
       [&](const std::string& text) { cache.memory_bytes = kib(text); }},
      {"--ceiling-kib", "N",
       "the most that adaptive ones may take, at least twice --cache-kib (default 65536, or twice if that is "
       "more)",
       [&](const std::string& text) { cache.ceiling_bytes = kib(text); }},
      {"--entries", "N", "of the index of Wherry's caches, at first (default 4096)",
       [&](const std::string& text) {
         cache.entries = static_cast<std::size_t>(apps::whole_number(text, 1, most_entries));
       }},
      {"--block-bytes", "N", "bytes of a block of the block cache (default 1024)",
       [&](const std::string& text) {
         cache.block_bytes = static_cast<std::size_t>(apps::whole_number(text, 1, most_block_bytes));
       }},
      {"--node-kib", "N",
       "memory that the ranks of a node share with Wherry's caches, at least 64 (default: none)",
       [&](const std::string& text) {
         cache.node_bytes = static_cast<std::size_t>(apps::whole_number(text, least_node_kib, most_kib))
                            << 10;
       }},
      {"--ahead-bytes", "N",
       "bytes of the blocks that Wherry's caches fetch; 0: no more than is asked for (default 1024)",
       [&](const std::string& text) { cache.ahead_bytes = block_or_none(text); }},
      {"--no-bypass", "", "Wherry's caches are asked even where plain gets take less time",
       [&](const std::string&) { cache.bypass = false; }},
      {"--no-plain", "", "the caches only: plain MPI does not run, and records have no baseline",
       [&](const std::string&) { cache.plain = false; }},
      turns(common),
  };
  common.turns = default_turns;
  std::ranges::copy_if(apps::common_options(common), std::back_inserter(all), [](const apps::Option& option) {
    return option.name != "--turns" && option.name != "--train";
  });
  return all;
}

void check(const CacheOptions& cache) {
  check_memory_limit(cache);
  if (!cache.ceiling_bytes || *cache.ceiling_bytes >= 2 * cache.memory_bytes) return;
  throw apps::usage_error("--ceiling-kib: " + std::to_string(*cache.ceiling_bytes >> 10) +
                          " is less than twice the " + std::to_string(cache.memory_bytes >> 10) +
                          " of --cache-kib, and the ceiling counts the index, too; write at least " +
                          std::to_string(cache.memory_bytes >> 9));
}

}  // namespace remote
