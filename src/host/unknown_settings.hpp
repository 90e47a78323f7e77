// Settings that name unknown strategies.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace wherry::run {

/// For each: the variable, the nearest name, and what happens.
std::vector<std::string> unknown_settings(const Settings& settings);

}  // namespace wherry::run
