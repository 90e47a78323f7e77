// What a window has done, as texts by name: for programs that ask for its info.
#pragma once

#include <functional>
#include <string>

#include "window/windows.hpp"

namespace wherry::window {

/// Calls set(key, value) for:
///   wherry_cache               the mode, or off
///   wherry_cache_why           why it is off
///   wherry_cache_hits, _partial_hits, _misses, _evictions, _bytes_saved, _bytes_fetched, _gets_passed, _seconds_saved
///                              numbers as in wherry_win_statistics; hits are full or pending
///   wherry_cache_node_found, _node_offered, _node_refused
///                              the same, where the ranks of a node share what they read
///   wherry_cache_adjustments   the last changes of the cache's size: "lookups:bytes" each
void report(const Windows::Known& known,
            const std::function<void(const std::string& key, const std::string& value)>& set);

}  // namespace wherry::window
