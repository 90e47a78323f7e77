// The fluid in time: velocity Verlet, with Langevin's thermostat or at constant energy.
#pragma once

#include <mpi.h>

#include <string>

#include "lj_fluid/domain.hpp"
#include "lj_fluid/physics.hpp"

namespace lj_fluid {

/// How far steepest descent came.
struct Relaxation {
  int steps = 0;
  double largest_force = 0;
};

class Simulation {
 public:
  /// The forces of a fluid that goes on are those of its particles; else they are computed. Collective.
  enum class Forces { known, unknown };
  Simulation(Domain& domain, const Physics& physics, long step, Forces forces);

  /// Moves particles along their forces, a little at a time, until no force is larger, or so many steps are done.
  /// Collective.
  Relaxation relax(double largest_force, int most_steps);

  enum class Measure { no, yes };
  /// Collective. Returns false, on all ranks, if a particle is lost or a force is no number: problem() says which.
  bool step(Measure measure);
  /// Energy and pressure of a step that was measured. Collective.
  Thermodynamics measured() const;
  /// What is wrong with the particles of now; empty if nothing is. The same on all ranks. Collective.
  std::string problem() const;
  /// Particles in the order that a fluid which goes on from them would have: a rebuild. Collective.
  void settle();

  long steps_done() const { return step_; }
  long rebuilds() const { return rebuilds_; }
  /// Of this rank, in agreeing on rebuilds.
  double agreement_s() const { return agreement_s_; }

 private:
  void thermalize_kick_and_drift();
  void kick();
  void compute_forces(Measure measure);
  double largest_square() const;
  double moved_square(std::size_t particle) const;
  double farthest_square() const;
  bool rebuild_if_needed(double square);
  void rebuild(double moved);
  double agreed_largest(double mine) const;

  Domain& domain_;
  Physics physics_;
  Potential potential_;
  MPI_Comm comm_;
  std::uint64_t particles_;
  long step_, rebuilds_ = 0;
  Totals totals_;
  mutable double agreement_s_ = 0;
};

}  // namespace lj_fluid
