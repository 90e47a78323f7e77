// How a window is cached: what the program says in its info, or for all windows in the environment.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "cache/cache.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

struct Options {
  bool caching = true;  // false: all calls on the window are native
  std::string problem;  // what its info says that cannot be: then it is not cached either
  std::string remark;   // what its info says that nobody knows, which changes nothing
  cache::CacheOptions cache;
  bool bypass = true;  // where plain gets turn out to be cheaper than the cache, use them
  /// With bypass, in transparent mode: a window gets its cache when plain gets have taken so long. Making one, some 5
  /// MiB, takes about as long.
  double without_cache_s = 1e-3;
  /// Except in transparent mode: what is missing is fetched with the rest of the block around it, of so many bytes; 0:
  /// alone.
  std::size_t block_bytes = 0;
  bool coalesces =
      false;  // hold gets back until something completes them, and ask for what is adjacent at once
  std::size_t node_bytes = 0;  // of memory that the ranks of a node share, for one to read for all; 0: none

  /// What is read in transparent mode is valid for an epoch of one rank: there is nothing to share.
  std::size_t shared_bytes() const {
    return caching && cache.mode != cache::Mode::transparent ? node_bytes : 0;
  }
};

/// With less memory than this there is none to share.
inline constexpr std::size_t least_node_bytes = std::size_t{64} << 10;

/// As a program writes it: transparent, always or user.
const char* name_of(cache::Mode mode);

/// Of a window whose info does not say.
Options options_of(const Settings& settings);

/// What the info's keys say, above what is given:
///   wherry_cache           transparent, always, user or off
///   wherry_cache_ceiling   most bytes, with K, M or G; 64K to 1024G
///   wherry_cache_storage   bytes for entries at first
///   wherry_cache_entries   entries that the index has room for at first
///   wherry_cache_adaptive  0: sizes stay as they are at first
///   wherry_cache_bypass    0: use the cache even where plain gets are cheaper
///   wherry_cache_block     fetch what is missing with the rest of the block around it, of so many bytes: a power of
///   two wherry_cache_coalesce  1: hold gets back until something completes them, and ask for what is adjacent at once
///   wherry_cache_node      bytes of memory that the ranks of a node share, with K, M or G; 64K to 1024G, or 0: none
/// clampi_mode is read too, with the values that clampi.h names. What cannot be is told in `problem`: problem, why,
/// what to do.
void read_info(const mpi::Api& api, MPI_Info info, Options& options);

/// What an info says to a window that there is: the value of the key wherry_cache, if it is there.
std::optional<std::string> told(const mpi::Api& api, MPI_Info info);

// The keys of a window's info that are Wherry's.

/// All of them begin with one of these.
inline constexpr std::string_view prefixes[] = {"wherry_", "clampi_"};

/// What a program may say; see read_info().
inline constexpr std::string_view asked_keys[] = {
    "clampi_mode",           "wherry_cache",        "wherry_cache_ceiling", "wherry_cache_storage",
    "wherry_cache_entries",  "wherry_cache_node",   "wherry_cache_block",   "wherry_cache_adaptive",
    "wherry_cache_coalesce", "wherry_cache_bypass",
};

/// What it is told; see report(). Such an info may be given to the next window.
inline constexpr std::string_view told_keys[] = {
    "wherry_cache_why",           "wherry_cache_hits",         "wherry_cache_partial_hits",
    "wherry_cache_misses",        "wherry_cache_evictions",    "wherry_cache_bytes_saved",
    "wherry_cache_bytes_fetched", "wherry_cache_gets_passed",  "wherry_cache_node_found",
    "wherry_cache_node_offered",  "wherry_cache_node_refused", "wherry_cache_seconds_saved",
    "wherry_cache_adjustments",
};

}  // namespace wherry::window
