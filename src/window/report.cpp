#include "window/windows.hpp"

#include <algorithm>
#include <cstdio>

#include "base/floating_point.hpp"

namespace wherry::window {
namespace {

/// As many as a value of an info can certainly hold.
std::string text_of(const std::vector<cache::Adjustment>& adjustments) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = adjustments.size() - std::min(adjustments.size(), most); i < adjustments.size(); ++i)
    text += (text.empty() ? "" : " ") + std::to_string(adjustments[i].lookups) + ":" +
            std::to_string(adjustments[i].storage_bytes);
  return text;
}

std::string in_three_digits(double value) {
  const OwnArithmetic arithmetic;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

void report(const Windows::Known& known,
            const std::function<void(const std::string& key, const std::string& value)>& tell) {
  const auto set = [&](const std::string& key, const std::string& value) {
    tell("wherry_cache" + key, value);
  };
  if (const std::optional<Uncached> why = known.why_not()) {
    set("", "off");
    set("_why", reason_of(*why));
    set("_gets_passed", std::to_string(known.passed()));
    return;
  }
  const Window* const window = known.window();
  const WindowStatistics s = window->statistics();
  set("", name_of(window->options().cache.mode));
  const struct {
    const char* key;
    std::uint64_t number;
  } numbers[] = {{"_hits", s.cache.full_hits + s.cache.pending_hits},
                 {"_partial_hits", s.cache.partial_hits},
                 {"_misses", s.cache.missed()},
                 {"_evictions", s.cache.evictions + s.cache.conflicts},
                 {"_bytes_saved", s.cache.bytes_saved},
                 {"_bytes_fetched", s.cache.bytes_fetched},
                 {"_gets_passed", s.passed}};
  for (const auto& [key, number] : numbers) set(key, std::to_string(number));
  if (window->shares()) {
    set("_node_found", std::to_string(s.node.found));
    set("_node_offered", std::to_string(s.node.offered));
    set("_node_refused", std::to_string(s.node.refused));
  }
  set("_seconds_saved", in_three_digits(s.seconds_saved));
  if (const std::string text = text_of(window->adjustments()); !text.empty()) set("_adjustments", text);
}

}  // namespace wherry::window
