// Gravity between bodies: kernels in several precisions, for the instructions that this processor has.
//
// Body j pulls body i with the acceleration m_j d / (|d|^2 + eps^2)^(3/2), d = r_j - r_i. By Newton's third law i pulls j
// by the same force, so that a pair needs one root for both.
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

/// One way to compute the pulls. All functions add to the sums, and may be called by several threads for different sums.
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
  /// What the columns do to the rows, and not the reverse. The ranges may overlap. The bits of a row's sum depend on the
  /// columns and on their range only, not on the other rows.
  void (*onto)(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
               const Sums& row_sums);
};

/// The kernels as compiled for one set of instructions.
struct InstructionSet {
  std::string name;           // Highway's: SSE2, AVX2, AVX3 (AVX-512), NEON, ...
  int doubles;                // in a vector
  int estimate_instructions;  // vector instructions for an estimate of 1 / r
  std::vector<Kernel> kernels;
  /// Adds the potential of the columns, -sum of m_j / sqrt(|d|^2 + eps^2) without the row's own, at each row.
  void (*potential)(const Points& points, Range rows, Range columns, double eps2, double* potentials);
  /// Computes with vectors of doubles, `rounds` times `fused_in_round` fused multiply-adds that do not wait for each other: how
  /// fast that goes is a measure for kernels. The result is of no use.
  double (*fused)(std::size_t rounds);
};

constexpr int fused_in_round = 16;

/// Vector instructions of the kernel `simd` for one row and one vector of columns, without loads and stores.
int simd_instructions(const InstructionSet& set, bool both_sides, bool coincidence_possible);

/// What this processor can run, best first. The first call finds out.
const std::vector<InstructionSet>& instruction_sets();

/// The reference: one pair after the other, with a root and a division. Not vectorised.
const Kernel& scalar_kernel();

}  // namespace nbody
