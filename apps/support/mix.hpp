// Numbers that look random, by place: the same for any number of ranks.
#pragma once

#include <cstdint>

#include "base/splitmix.hpp"

namespace apps {

/// A bijection that scatters neighboring numbers.
constexpr std::uint64_t mix(std::uint64_t x) { return wherry::splitmix_output(x + wherry::splitmix_step); }

}  // namespace apps
