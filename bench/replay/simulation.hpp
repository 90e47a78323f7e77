// A trace through the cache itself.
#pragma once

#include "cache/cache.hpp"
#include "replay/traces.hpp"

namespace replay {

/// Every key is a range of its own. An epoch ends after every `epoch` references (0: never).
inline void simulate(wherry::cache::Cache& cache, const Trace& trace, std::size_t epoch = 0) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::size_t count = 0;
  for (const Reference& each : trace.references) {
    const wherry::cache::TargetRange range{0, std::uint64_t{each.key} << 20, each.bytes};
    if (cache.lookup(range, buffer.data(), each.score) == wherry::cache::Answer::missing)
      for (const wherry::cache::Missing& missing : cache.missing())
        if (missing.ticket != 0) cache.filled(missing.ticket, buffer.data());
    if (epoch != 0 && ++count % epoch == 0) cache.end_epoch();
  }
}

/// Hits with so many bytes for entries, at a fixed size.
inline std::size_t hits(const Trace& trace, std::size_t capacity) {
  wherry::cache::Cache cache({.mode = wherry::cache::Mode::always_cache,
                              .ceiling_bytes = std::size_t{64} << 20,
                              .storage_bytes = capacity,
                              .index_entries = 20000,
                              .adaptive = false});
  simulate(cache, trace);
  return cache.statistics().full_hits;
}

}  // namespace replay
