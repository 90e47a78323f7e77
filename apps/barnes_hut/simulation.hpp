// Some steps of all bodies with one method of reading remote memory.
#pragma once

#include <mpi.h>

#include <vector>

#include "barnes_hut/gravity.hpp"
#include "barnes_hut/motion.hpp"

namespace barnes_hut {

struct Steps {
  int count = 2;
  double time = 1.0 / 128;  // of each
};

/// What a run leaves on this rank.
struct Run {
  std::vector<Particle> particles;
  Conserved before, after;  // of all ranks
  remote::Statistics statistics;
  bool operator==(const Run& other) const { return particles == other.particles; }
};

/// Leapfrog: half a kick, a drift, half a kick. timings: of the forces, once before the first step and once in each.
/// Collective.
Run simulate(MPI_Comm comm, std::vector<Particle> particles, const Steps& steps, Gravity& gravity,
             apps::Timings& timings);

/// The root of the mean square of the relative errors of some bodies' accelerations, against direct sums; on all ranks.
/// Collective.
double force_error(MPI_Comm comm, const std::vector<Particle>& particles, double softening);
constexpr int sampled_bodies = 256;  // about

}  // namespace barnes_hut
