// Settings that name unknown strategies.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace wherry::tuning {

/// For each: the variable, the nearest name, and what happens. As `wherry run` tells it
/// (python/wherry/run/settings.py).
std::vector<std::string> unknown_strategies(const Strategies& asked);

}  // namespace wherry::tuning
