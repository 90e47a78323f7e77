#include "barnes_hut/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "remote/exchange.hpp"
#include "support/mpi/comm.hpp"

namespace barnes_hut {
namespace {

Conserved all_conserved(MPI_Comm comm, const std::vector<Particle>& particles) {
  const Conserved mine = conserved(particles);
  return {.kinetic = apps::reduced(mine.kinetic, MPI_SUM, comm),
          .potential = apps::reduced(mine.potential, MPI_SUM, comm),
          .px = apps::reduced(mine.px, MPI_SUM, comm),
          .py = apps::reduced(mine.py, MPI_SUM, comm),
          .pz = apps::reduced(mine.pz, MPI_SUM, comm)};
}

}  // namespace

Run simulate(MPI_Comm comm, std::vector<Particle> particles, const Steps& steps, Gravity& gravity,
             apps::Timings& timings) {
  Run run;
  gravity.compute(particles, timings);
  run.before = all_conserved(comm, particles);
  for (int i = 0; i < steps.count; ++i) {
    kick(particles, steps.time / 2);
    drift(particles, steps.time);
    gravity.compute(particles, timings);
    kick(particles, steps.time / 2);
  }
  run.after = all_conserved(comm, particles);
  run.particles = std::move(particles);
  run.statistics = gravity.statistics();
  return run;
}

double force_error(MPI_Comm comm, const std::vector<Particle>& particles, double softening) {
  std::vector<Body> mine;
  for (const Particle& p : particles) mine.push_back(p.body);
  const std::vector<Body> all = remote::gathered(mine, comm);
  const std::uint64_t stride = std::max<std::uint64_t>(1, all.size() / sampled_bodies);
  double squares = 0, count = 0;
  for (const Particle& p : particles) {
    if (p.id % stride != 0) continue;
    squares += squared_error(p, direct_sum(p, all, softening));
    count += 1;
  }
  return std::sqrt(apps::reduced(squares, MPI_SUM, comm) / apps::reduced(count, MPI_SUM, comm));
}

}  // namespace barnes_hut
