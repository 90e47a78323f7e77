#include "remote/memory_limit.hpp"

#include <unistd.h>

#include "remote/comparison.hpp"
#include "support/options.hpp"

namespace remote {
namespace {

constexpr double windows = 2;  // that an application has open at a time

double memory_of_machine() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// taken: what so many bytes asked for come to.
void check_taken(const std::string& option, std::size_t asked, double taken) {
  const double memory = memory_of_machine();
  if (taken <= memory) return;
  const auto most = static_cast<std::size_t>(static_cast<double>(asked) * (memory / taken));
  throw apps::usage_error(option + ": " + std::to_string(asked >> 10) + " KiB would take " +
                          bytes_text(taken) + " of memory, and this machine has " + bytes_text(memory) +
                          "; write at most " + std::to_string(most >> 10) +
                          ", and less for several ranks on a machine");
}

}  // namespace

void check_memory_limit(const CacheOptions& cache) {
  const BlockOptions blocks{.memory_bytes = cache.memory_bytes, .block_bytes = cache.block_bytes};
  check_taken("--cache-kib", cache.memory_bytes, windows * static_cast<double>(BlockReader::bytes(blocks)));
  // What an adaptive cache begins with is a share of its ceiling.
  if (cache.ceiling_bytes)
    check_taken("--ceiling-kib", *cache.ceiling_bytes, static_cast<double>(*cache.ceiling_bytes));
  check_taken("--node-kib", cache.node_bytes, windows * static_cast<double>(cache.node_bytes));
}

}  // namespace remote
