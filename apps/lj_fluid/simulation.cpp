#include "lj_fluid/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lj_fluid/noise.hpp"
#include "support/mpi/comm.hpp"

namespace lj_fluid {
namespace {

double square(const Vector& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Simulation::Simulation(Domain& domain, const Physics& physics, long step, Forces forces)
    : domain_(domain),
      physics_(physics),
      potential_(cut_off(physics.cutoff, physics.shifted)),
      comm_(domain.decomposition().comm()),
      particles_(apps::reduced(static_cast<std::uint64_t>(domain.size()), MPI_SUM, comm_)),
      step_(step) {
  if (forces == Forces::unknown) compute_forces(Measure::yes);
}

void Simulation::compute_forces(Measure measure) {
  totals_ = {};
  domain_.compute_forces(potential_, measure == Measure::yes ? &totals_ : nullptr);
}

double Simulation::agreed_largest(double mine) const {
  const double start = MPI_Wtime();
  const double largest = apps::reduced(mine, MPI_MAX, comm_);
  agreement_s_ += MPI_Wtime() - start;
  return largest;
}

/// How far any particle of this rank is from where it was at the last rebuild, squared; infinite if one is lost.
double Simulation::largest_square() const {
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < domain_.size(); ++i) {
    const double moved = moved_square(i);
    largest = std::max(largest, moved);
    sum += moved;  // keeps what is no number
  }
  return sum < farthest_square() * static_cast<double>(domain_.size() + 1) && largest < farthest_square()
             ? largest
             : std::numeric_limits<double>::infinity();
}

double Simulation::moved_square(std::size_t particle) const {
  const Vector &now = domain_.sites()[particle].position, &old = domain_.old_positions()[particle];
  return square({now[0] - old[0], now[1] - old[1], now[2] - old[2]});
}

/// Who crosses the whole box between two rebuilds is lost.
double Simulation::farthest_square() const {
  const wherry::Box<3>& box = domain_.decomposition().box();
  return square({box.upper[0] - box.lower[0], box.upper[1] - box.lower[1], box.upper[2] - box.lower[2]});
}

bool Simulation::rebuild_if_needed(double mine) {
  const double largest = agreed_largest(mine);
  if (!std::isfinite(largest)) return false;
  if (largest <= physics_.skin * physics_.skin / 4) return true;
  rebuild(std::sqrt(largest));
  return true;
}

void Simulation::rebuild(double moved) {
  domain_.rebuild(moved);
  ++rebuilds_;
}

/// Lists are good, so nothing has moved farther.
void Simulation::settle() { rebuild(physics_.skin / 2); }

Relaxation Simulation::relax(double largest_force, int most_steps) {
  // Stable at the curvature of a pair at a distance of 1, and no jumps where particles lie on each other.
  constexpr double mobility = 0.0005, farthest = 0.05;
  Relaxation done;
  for (;; ++done.steps) {
    double largest = 0;
    for (const Site& site : domain_.sites())
      largest = std::max(largest, std::isfinite(square(site.force)) ? square(site.force) : HUGE_VAL);
    done.largest_force = std::sqrt(agreed_largest(largest));
    if (done.largest_force <= largest_force || done.steps == most_steps) return done;
    for (Site& site : domain_.sites())
      for (std::size_t i = 0; i < 3; ++i)
        site.position[i] +=
            std::isnan(site.force[i]) ? 0 : std::clamp(mobility * site.force[i], -farthest, farthest);
    rebuild_if_needed(largest_square());
    compute_forces(Measure::yes);
  }
}

/// The thermostat's part of a step is exact: friction and noise together keep a Maxwell distribution (Bussi and
/// Parrinello, Phys. Rev. E 75 (2007) 056707).
void Simulation::thermalize_kick_and_drift() {
  const double half = physics_.dt / 2, kept = physics_.langevin ? std::exp(-physics_.gamma * physics_.dt) : 1;
  const double drawn = std::sqrt(physics_.temperature * (1 - kept * kept));
  const std::uint64_t key = step_key(physics_.seed, static_cast<std::uint64_t>(step_));
  const auto sites = domain_.sites();
  const auto velocities = domain_.velocities();
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Vector random = physics_.langevin ? noise(key, domain_.identities()[i]) : Vector{};
    for (std::size_t k = 0; k < 3; ++k) {
      double& v = velocities[i][k];
      v = kept * v + drawn * random[k] + half * sites[i].force[k];
      sites[i].position[k] += physics_.dt * v;
    }
  }
}

void Simulation::kick() {
  const double half = physics_.dt / 2;
  const auto sites = domain_.sites();
  const auto velocities = domain_.velocities();
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) velocities[i][k] += half * sites[i].force[k];
}

bool Simulation::step(Measure measure) {
  thermalize_kick_and_drift();
  if (!rebuild_if_needed(largest_square())) return false;
  compute_forces(measure);
  kick();
  ++step_;
  return true;
}

Thermodynamics Simulation::measured() const {
  double mine[3] = {totals_.energy, totals_.virial, 0}, all[3];
  for (const Vector& v : domain_.velocities()) mine[2] += square(v);
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, comm_);
  const auto n = static_cast<double>(particles_);
  double volume = 1;
  for (std::size_t i = 0; i < 3; ++i)
    volume *= domain_.decomposition().box().upper[i] - domain_.decomposition().box().lower[i];
  // The thermostat does not keep the sum of velocities, the equations of motion do.
  const double free = physics_.langevin ? 3 * n : std::max(3 * (n - 1), 1.0);
  const double temperature = all[2] / free;
  return {.step = step_,
          .temperature = temperature,
          .potential = all[0] / n,
          .kinetic = all[2] / 2 / n,
          .pressure = (n * temperature + all[1] / 3) / volume};
}

std::string Simulation::problem() const {
  std::uint64_t no_number = none, lost = none;
  for (std::size_t i = 0; i < domain_.size(); ++i) {
    const std::uint64_t identity = domain_.identities()[i];
    if (!std::isfinite(square(domain_.sites()[i].force))) no_number = std::min(no_number, identity);
    if (!(moved_square(i) < farthest_square())) lost = std::min(lost, identity);
  }
  no_number = apps::reduced(no_number, MPI_MIN, comm_);
  lost = apps::reduced(lost, MPI_MIN, comm_);
  const std::string
      step = " in step " + std::to_string(step_),
      why = ": particles came too close to each other; make the time step shorter, or relax the start";
  if (no_number != none)
    return "the force on particle " + std::to_string(no_number) + step + " is no number" + why;
  return lost == none ? "" : "particle " + std::to_string(lost) + " crossed the whole box" + step + why;
}

}  // namespace lj_fluid
