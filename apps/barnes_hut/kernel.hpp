// Many sources act on many targets: the innermost loops, as wide as the processor's vectors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "barnes_hut/cells.hpp"

namespace barnes_hut {

/// What acts on a group.
struct Sources {
  std::vector<Body> bodies;
  std::vector<Moments> cells;
};

/// Memory for targets is a multiple of this.
constexpr std::size_t most_lanes = 8;

/// Places, and what is added to: lists of `count` numbers, a multiple of most_lanes.
struct Targets {
  const double *x, *y, *z;
  double *ax, *ay, *az, *potential;
  std::size_t count;
};

struct Kernel {
  const char* name;  // of its set of instructions
  /// softening: added in quadrature to every distance (Plummer). Bodies at no distance at all do nothing to each other.
  void (*add)(const Targets& targets, const Body* bodies, std::size_t body_count, const Moments* cells,
              std::size_t cell_count, double softening);
};

/// Those that this processor runs, the best first.
std::span<const Kernel> kernels();
const Kernel& best_kernel();

/// Targets in the kernel's form: a list each for every coordinate and result.
class TargetList {
 public:
  /// Targets at these bodies' places, with results of 0.
  void set(std::span<const Body> bodies);
  void add(const Kernel& kernel, const Sources& sources, double softening);

  struct Result {
    double ax, ay, az, potential;
  };
  Result operator[](std::size_t i) const { return {at(3)[i], at(4)[i], at(5)[i], at(6)[i]}; }

 private:
  static constexpr std::size_t lists = 7;
  const double* at(std::size_t list) const { return numbers_.data() + list * count_; }
  double* at(std::size_t list) { return numbers_.data() + list * count_; }

  std::size_t count_ = 0;
  std::vector<double> numbers_;
};

}  // namespace barnes_hut
