// A run on all ranks: steps in time by a scheme, what is conserved, and whether the results are right.
#pragma once

#include <mpi.h>

#include <set>
#include <string>
#include <vector>

#include "nbody/conserved.hpp"
#include "nbody/integrators.hpp"
#include "nbody/scheme.hpp"

namespace nbody {

/// Of the steps by one of the two sides, on this rank.
struct StepTimes {
  std::vector<double> step_s, compute_s, exchange_s;
  std::set<std::string> strategies;
};

class Simulation {
 public:
  /// All arguments but the bodies and the rate must outlive it. bodies: the same on all ranks.
  Simulation(MPI_Comm comm, Bodies bodies, const Integrator& integrator, double dt, Team& team,
             Scheme& scheme, const ComputeRate& compute_rate = {});

  /// The first accelerations. Collective.
  void begin(const Exchanges& with);
  /// spans: where to keep what the rank did, too. Collective.
  void step(const Exchanges& with, StepTimes& times, Spans* spans = nullptr);

  /// All bodies as they are now. Collective.
  const Bodies& bodies();
  /// Collective; each rank computes the potentials of a part of the bodies.
  Conserved measured();

  /// What is wrong, told on all ranks; empty if nothing. Collective.
  /// Whether places, velocities or accelerations overflowed.
  std::string numbers_problem() const;
  /// Whether ranks that move all bodies have the same ones, to the last bit.
  std::string replicas_problem() const;
  /// Whether the accelerations of some bodies are those that the scalar kernel finds.
  std::string forces_problem();

 private:
  MPI_Comm comm_;
  System system_;
  const Integrator& integrator_;
  double dt_;
  Team& team_;
  Scheme& scheme_;
  ComputeRate compute_rate_;
};

constexpr const char* overflowed =
    "the numbers overflowed: bodies moved too far or too fast to compute with; "
    "write a smaller --dt, a larger --eps, or other units";

/// Rank 0's bodies on all ranks. Collective.
Bodies broadcast(Bodies bodies, MPI_Comm comm);

}  // namespace nbody
