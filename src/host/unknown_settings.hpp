// Settings that ask for strategies that there are not.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace wherry::run {

/// For each: the variable, the nearest name, and what happens.
std::vector<std::string> misspelt(const Settings& settings);

}  // namespace wherry::run
