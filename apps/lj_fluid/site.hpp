// What forces are computed on: a line of cache for each particle and ghost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lj_fluid/particle.hpp"

namespace lj_fluid {

/// Kernels load position and `key`, force and `zero` as vectors of four numbers.
struct alignas(64) Site {
  Vector position{};
  std::uint64_t key = 0;  // the identity while ghosts are chosen; else 0, which kernels read as 0.0
  Vector force{};
  double zero = 0;
};
static_assert(sizeof(Site) == 64 && offsetof(Site, force) == 32);

/// Of a site that stands in lists for nothing: no particle is near it.
inline constexpr Vector nowhere{1e30, 1e30, 1e30};

}  // namespace lj_fluid
