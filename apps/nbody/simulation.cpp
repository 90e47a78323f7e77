#include "nbody/simulation.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

/// The values of each rank's bodies on all ranks. Collective.
class Gathering {
 public:
  Gathering(Range owned, std::size_t bodies, MPI_Comm comm) : comm_(comm), owned_(owned) {
    const int ranks = apps::size_of(comm),
              mine[2] = {static_cast<int>(owned.begin), static_cast<int>(owned.size())};
    std::vector<int> all(2 * static_cast<std::size_t>(ranks));
    MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, comm);
    for (std::size_t rank = 0; rank < all.size() / 2; ++rank) {
      begins_.push_back(all[2 * rank]);
      counts_.push_back(all[2 * rank + 1]);
    }
    replicated_ = owned.size() == bodies;
  }

  void gather(std::span<double> values) const {
    if (replicated_) return;
    const std::vector<double> mine(values.begin() + static_cast<long>(owned_.begin),
                                   values.begin() + static_cast<long>(owned_.end));
    MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, values.data(), counts_.data(),
                   begins_.data(), MPI_DOUBLE, comm_);
  }
  void gather(Vectors& vectors) const {
    for (std::size_t axis = 0; axis < 3; ++axis) gather(vectors[axis]);
  }

 private:
  MPI_Comm comm_;
  Range owned_;
  std::vector<int> begins_, counts_;
  bool replicated_;
};

/// The same for the same bits (FNV-1a on words).
std::uint64_t fingerprint(const Bodies& bodies) {
  std::uint64_t hash = 14695981039346656037U;
  for (const Vectors* vectors : {&bodies.place, &bodies.velocity})
    for (const double value : vectors->all())
      hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

double length(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }

/// Root mean square over the bodies of the error relative to each one's own.
double relative_error(const Vectors& values, const Vectors& right, const std::vector<std::size_t>& bodies) {
  double sum = 0;
  for (const std::size_t i : bodies) {
    const Vector v = values.at(i), r = right.at(i);
    const double apart = length({v[0] - r[0], v[1] - r[1], v[2] - r[2]}), scale = length(r);
    const double error = scale > 0 ? apart / scale : apart;
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(bodies.size()));
}

/// Whether every component in the range is smaller than that; what is not a number is not.
bool all_below(double limit, const Vectors& vectors, Range range) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const double value : vectors[axis].subspan(range.begin, range.size()))
      if (!(std::abs(value) < limit)) return false;
  return true;
}

}  // namespace

Simulation::Simulation(MPI_Comm comm, Bodies bodies, const Integrator& integrator, double dt, Team& team,
                       Scheme& scheme, const ComputeRate& compute_rate)
    : comm_(comm),
      system_(std::move(bodies)),
      integrator_(integrator),
      dt_(dt),
      team_(team),
      scheme_(scheme),
      compute_rate_(compute_rate) {}

void Simulation::begin(const Exchanges& with) {
  Diary unused(compute_rate_);
  scheme_.accelerate(system_, with, unused);
}

void Simulation::step(const Exchanges& with, StepTimes& times, Spans* spans) {
  Diary diary(compute_rate_, spans);
  const double start = MPI_Wtime();
  nbody::step(integrator_, system_.bodies, system_.accelerations, scheme_.owned(), dt_,
              [&] { scheme_.accelerate(system_, with, diary); });
  times.step_s.push_back(MPI_Wtime() - start);
  times.compute_s.push_back(diary.compute_s());
  times.exchange_s.push_back(diary.exchange_s());
  times.strategies.insert(diary.strategies().begin(), diary.strategies().end());
}

const Bodies& Simulation::bodies() {
  const Gathering gathering(scheme_.owned(), system_.bodies.size(), comm_);
  gathering.gather(system_.bodies.place);
  gathering.gather(system_.bodies.velocity);
  return system_.bodies;
}

Conserved Simulation::measured() {
  const Bodies& all = bodies();
  const Range mine = part_of({0, all.size()}, static_cast<std::size_t>(apps::rank_of(comm_)),
                             static_cast<std::size_t>(apps::size_of(comm_)));
  std::vector<double> potentials(all.size());
  team_.potential(all.points(), mine, all.size(), potentials.data());
  Gathering(mine, all.size(), comm_).gather(potentials);
  return conserved(all, potentials);
}

std::string Simulation::numbers_problem() const {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Range owned = scheme_.owned();
  const bool mine = all_below(farthest, system_.bodies.place, owned) &&
                    all_below(infinite, system_.bodies.velocity, owned) &&
                    all_below(infinite, system_.accelerations, owned);
  return apps::on_all(mine, comm_) ? "" : overflowed;
}

std::string Simulation::replicas_problem() const {
  const std::uint64_t mine =
      scheme_.owned().size() == system_.bodies.size() ? fingerprint(system_.bodies) : 0;
  // One reduction: the least of the numbers, and of their complements.
  const std::uint64_t both[2] = {mine, ~mine};
  std::uint64_t least[2] = {};
  MPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, comm_);
  if (least[0] == ~least[1]) return "";
  return "the ranks do not have the same bodies any more: a reduction gave them different bits; use a scheme "
         "whose ranks move "
         "their own bodies";
}

std::string Simulation::forces_problem() {
  constexpr std::size_t samples = 64;
  const std::size_t count = system_.bodies.size();
  Vectors found = system_.accelerations, right(count);
  Gathering(scheme_.owned(), count, comm_).gather(found);
  const Points points = bodies().points();
  std::vector<std::size_t> looked_at;
  for (std::size_t k = 0; k < std::min(samples, count); ++k)
    looked_at.push_back(k * count / std::min(samples, count));
  for (const std::size_t i : looked_at)
    scalar_kernel().onto(points, {i, i + 1}, points, {0, count}, team_.eps2(), right.sums());
  const double error = relative_error(found, right, looked_at);
  // Single bodies may have larger errors than all have in the mean.
  const double allowed = 100 * team_.kernel().error;
  const bool fine = error <= allowed;
  if (apps::on_all(fine, comm_)) return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "accelerations differ from those of the scalar kernel by %.2g (at most %.2g)", error,
                allowed);
  return text;
}

Bodies broadcast(Bodies bodies, MPI_Comm comm) {
  const auto count =
      apps::reduced(std::uint64_t{apps::rank_of(comm) == 0 ? bodies.size() : 0}, MPI_MAX, comm);
  if (apps::rank_of(comm) != 0) bodies = Bodies(count);
  for (const std::span<double> values : {std::span(bodies.m), bodies.place.all(), bodies.velocity.all()})
    MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, comm);
  return bodies;
}

}  // namespace nbody
