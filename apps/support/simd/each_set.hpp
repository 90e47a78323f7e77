// Every set of instructions that this processor has and that kernels are compiled for.
#pragma once

#include "support/simd/targets.hpp"

#include <hwy/targets.h>

#include <cstdint>

namespace apps {

/// use() for each of the sets, the best first: Highway only hands out the functions for the best set that it may use, so
/// each is made the only one for a moment.
template <class Use>
void for_each_set(const Use& use) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    use();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace apps
