// Gravity between bodies: kernels in several precisions, for the instructions that this processor has.
//
// Body j pulls body i with the acceleration m_j d / (|d|^2 + eps^2)^(3/2), d = r_j - r_i. By Newton's third law i pulls
// j by the same force, so that a pair needs one root for both.
//
// Bodies nearer than `coincident` (with eps added: sqrt(|d|^2 + eps^2)) do not pull each other: two at one place with
// eps = 0 feel nothing of each other, as if they were one body. A body never pulls itself. Coordinates must stay below
// `farthest`, so that no square overflows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

constexpr double coincident = 1e-100;
constexpr double farthest = 1e100;

/// The vector instructions that a kernel takes for one row and one vector of columns, without loads and stores.
struct Instructions {
  int fused = 0;     // products, and fused multiply-adds
  int added = 0;     // sums and differences
  int estimate = 0;  // for an estimate of 1 / r
  int all() const { return fused + added + estimate; }
  /// Computes the same mixture, so many times, without one waiting for the other: no kernel of these instructions is
  /// faster. The result is of no use. Null: not counted.
  double (*run)(std::size_t times) = nullptr;
};

/// One algorithm for the pulls. All functions add to the sums, and may be called by several threads for different
/// sums.
struct Kernel {
  std::string name;
  std::string meaning;
  double error;  // relative to exact arithmetic, root mean square over bodies: stays below this

  /// Every pair i < j of the range, once, for both bodies.
  void (*within)(const Points& points, Range range, double eps2, const Sums& sums);
  /// Every pair of a row (a body of `rows`) and a column, for both. The ranges may be of different arrays; of one they
  /// must not overlap.
  void (*between)(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
                  const Sums& row_sums, const Sums& column_sums);
  /// What the columns do to the rows, and not the reverse. The ranges may overlap. The bits of a row's sum depend on
  /// the columns and on their range only, not on the other rows.
  void (*onto)(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
               const Sums& row_sums);
  Instructions both_sides = {}, one_side = {};
};

/// Accelerations and potentials at once. The potential of a row is -sum of m_j / sqrt(|d|^2 + eps^2) without the row's
/// own.
struct FieldKernel {
  std::string name;
  double error;  // of both, as of a Kernel
  /// What the columns do to the rows, bodies of the same arrays; the ranges may overlap. Adds.
  void (*onto)(const Points& points, Range rows, Range columns, double eps2, const Sums& sums,
               double* potentials);
};

/// The kernels as compiled for one set of instructions.
struct InstructionSet {
  std::string name;  // Highway's: SSE2, AVX2, AVX3 (AVX-512), NEON, ...
  int doubles;       // in a vector
  std::vector<Kernel> kernels;
  FieldKernel field, single_field;  // in double and in single precision
};

/// What this processor can run, best first. The first call finds out.
const std::vector<InstructionSet>& instruction_sets();

/// The reference: one pair after the other, with a root and a division. Not vectorised.
const Kernel& scalar_kernel();

}  // namespace nbody
