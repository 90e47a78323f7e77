// Whether this machine has the memory that caches are to take.
#pragma once

#include "remote/variants.hpp"

namespace remote {

/// Throws usage_error, which names the option, if one rank's caches alone take more than the machine has. Local.
void check_memory_limit(const CacheOptions& cache);

}  // namespace remote
