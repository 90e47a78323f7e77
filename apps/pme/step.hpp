// One step of a particle-mesh method on the grid: charges to their potential, checked against one process's FFT.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "pme/field.hpp"
#include "pme/parallel_fft.hpp"

namespace pme {

/// What a step leaves on this rank.
struct Result {
  std::vector<Complex> spectrum;  // of the charges, in the last layout
  std::vector<double> potential;  // in the first
  bool operator==(const Result&) const = default;
};

class Step {
 public:
  Step(MPI_Comm comm, const Decomposition& decomposition);

  /// Collective. total: of the whole step.
  Result run(const apps::Collectives& with, MoveTimings& moves, apps::Timings& total);

  const std::vector<Move>& moves() const { return fft_.moves(); }
  /// What is wrong with a result, told on all ranks; empty if nothing. Rank 0 computes it alone: for small grids.
  /// Collective.
  std::string problem_of(const Result& result) const;

 private:
  MPI_Comm comm_;
  int rank_;
  const Decomposition& decomposition_;
  ParallelFft fft_;
  std::vector<double> charges_, influence_;
};

}  // namespace pme
