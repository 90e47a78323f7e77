// Settings that name unknown strategies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "base/settings.hpp"
#include "schedule/registry/algorithm.hpp"
#include "schedule/segments/segment_operation.hpp"

namespace wherry::tuning {

/// What the setting of a collective may name.
inline std::vector<std::string_view> known_to(Collective collective) {
  std::vector<std::string_view> names = {"auto", "native"};
  for (const schedule::Algorithm& algorithm :
       schedule::algorithms_of(schedule::segment_operation(collective)))
    names.push_back(algorithm.name());
  return names;
}

/// For each: the variable, the nearest name, and what happens. As `wherry run` tells it
/// (python/wherry/run/settings.py).
inline std::vector<std::string> unknown_strategies(const Strategies& asked) {
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < collectives; ++i) {
    const std::vector<std::string_view> known = known_to(static_cast<Collective>(i));
    if (std::ranges::find(known, asked[i]) != known.end()) continue;
    problems.push_back(std::string(collective_names[i].variable) + ": unknown strategy '" + asked[i] +
                       "', so the native collective runs instead" + did_you_mean(asked[i], known));
  }
  return problems;
}

}  // namespace wherry::tuning
