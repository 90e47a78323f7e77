#include "barnes_hut/kernel.hpp"

#include <algorithm>
#include <array>

namespace barnes_hut {

// One in a file each, compiled for those processors.
using Add = void(const Targets&, const Body*, std::size_t, const Moments*, std::size_t, double);
Add add_baseline, add_avx2, add_avx512;

std::span<const Kernel> kernels() {
  static const std::array all = {
#if defined(__x86_64__)
      Kernel{"avx512", [] { return __builtin_cpu_supports("avx512f") != 0; }, add_avx512},
      Kernel{"avx2", [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; },
             add_avx2},
#endif
      Kernel{"baseline", [] { return true; }, add_baseline},
  };
  return all;
}

const Kernel& best_kernel() {
  return *std::ranges::find_if(kernels(), [](const Kernel& kernel) { return kernel.runs_here(); });
}

void TargetList::set(std::span<const Body> bodies) {
  count_ = (bodies.size() + most_lanes - 1) / most_lanes * most_lanes;
  numbers_.assign(lists * count_, 0);
  // What fills the last vector lies where the last body is.
  for (std::size_t i = 0; i < count_; ++i) {
    const Body& body = bodies[std::min(i, bodies.size() - 1)];
    at(0)[i] = body.x;
    at(1)[i] = body.y;
    at(2)[i] = body.z;
  }
}

void TargetList::add(const Kernel& kernel, const Sources& sources, double softening) {
  const Targets targets{at(0), at(1), at(2), at(3), at(4), at(5), at(6), count_};
  kernel.add(targets, sources.bodies.data(), sources.bodies.size(), sources.cells.data(),
             sources.cells.size(), softening);
}

}  // namespace barnes_hut
