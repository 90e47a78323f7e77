// How a window is cached: what the program says in its info, or for all windows in the environment.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cache/cache.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

struct Options {
  bool caching = true;     // false: the window is the library's alone
  bool understood = true;  // false: its info says what cannot be, and the window is the library's alone
  cache::CacheOptions cache;
  bool bypass = true;  // where plain gets turn out to be cheaper than the cache, use them
  /// Except in transparent mode: what is missing is fetched with the rest of the block around it, of so many bytes; 0: alone.
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

/// "transparent", "always", "user" or "off". False: none of these; the options stay.
bool set_mode(Options& options, std::string_view mode);

/// What the info's keys say, above what is given:
///   wherry_cache           transparent, always, user or off
///   wherry_cache_ceiling   most bytes, with K, M or G; at least 64K
///   wherry_cache_storage   bytes for entries at first
///   wherry_cache_entries   entries that the index has room for at first
///   wherry_cache_adaptive  0: sizes stay as they are at first
///   wherry_cache_bypass    0: use the cache even where plain gets are cheaper
///   wherry_cache_block     fetch what is missing with the rest of the block around it, of so many bytes: a power of two
///   wherry_cache_coalesce  1: hold gets back until something completes them, and ask for what is adjacent at once
///   wherry_cache_node      bytes of memory that the ranks of a node share, with K, M or G; at least 64K, or 0: none
/// clampi_mode is read too, with the values that clampi.h names. Returns an empty text, or what is wrong: problem, why, what to do.
std::string read_info(const mpi::Api& api, MPI_Info info, Options& options);

/// Whether the key wherry_cache has the value invalidate.
bool asks_to_invalidate(const mpi::Api& api, MPI_Info info);

}  // namespace wherry::window
