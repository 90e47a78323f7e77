// The keys of a window's info that are Wherry's.
#pragma once

#include <string_view>

namespace wherry::window {

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
