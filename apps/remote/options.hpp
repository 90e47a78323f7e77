// The options that applications with remote memory have in common.
#pragma once

#include <vector>

#include "remote/variants.hpp"
#include "support/options.hpp"

namespace remote {

constexpr int default_turns = 5;

/// Those of the caches, and all common ones but --train: caches begin empty in every run.
std::vector<apps::Option> options(CacheOptions& cache, apps::Common& common);

/// Throws usage_error if options do not go together, or ask for more memory than there is. Local.
void check(const CacheOptions& cache);

}  // namespace remote
