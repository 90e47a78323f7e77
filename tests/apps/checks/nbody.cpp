// Every scheme moves bodies as one rank alone does, with either side's exchanges; and what is wrong with a result is
// found.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "broken.hpp"
#include "nbody/automatic.hpp"
#include "nbody/models.hpp"
#include "nbody/schemes/schemes.hpp"
#include "nbody/simulation.hpp"

using namespace nbody;

namespace {

constexpr std::uint64_t seed = 20261122;
constexpr double dt = 1e-3, eps = 0.05;
constexpr int steps = 4;

const Integrator& leapfrog() { return integrators()[1]; }

Team team(int threads) {
  const InstructionSet& set = instruction_sets().front();
  return Team(set.kernels.front(), set, eps * eps, threads);
}

/// Where the bodies are after some steps by this process alone.
Bodies moved_alone(Bodies bodies) {
  Team alone = team(1);
  const Range all{0, bodies.size()};
  Vectors sums(bodies.size());
  const auto accelerate = [&] {
    std::ranges::fill(sums.all(), 0.0);
    alone.both(bodies.points(), {Piece{all, all}}, sums.sums());
  };
  accelerate();
  for (int i = 0; i < steps; ++i) step(leapfrog(), bodies, sums, all, dt, accelerate);
  return bodies;
}

/// The largest difference in places and velocities; all are about 1.
double apart(const Bodies& a, const Bodies& b) {
  double most = 0;
  for (const auto vectors : {&Bodies::place, &Bodies::velocity})
    for (std::size_t i = 0; i < (a.*vectors).all().size(); ++i) {
      const double d = std::abs((a.*vectors).all()[i] - (b.*vectors).all()[i]);
      most = std::isnan(d) ? HUGE_VAL : std::max(most, d);
    }
  return most;
}

using Make = std::function<std::unique_ptr<Scheme>(MPI_Comm, Team&, std::size_t)>;

bool moves_alike(const std::string& name, const Make& make, const Bodies& start, int threads) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  Team several = team(threads);
  const auto scheme = make(comm, several, start.size());
  Simulation simulation(comm, start, leapfrog(), dt, several, *scheme);
  StepTimes times;
  simulation.begin(plain_mpi);
  for (int i = 0; i < steps; ++i) simulation.step(i % 2 == 0 ? plain_mpi : wherrys, times);
  bool right = broken::as_expected(name.c_str(), simulation.replicas_problem(), "");
  right &= broken::as_expected(name.c_str(), simulation.forces_problem(), "");
  const double difference = apart(simulation.bodies(), moved_alone(start));
  if (difference > 1e-12) {
    std::fprintf(stderr, "%s with %zu bodies and %d threads: off by %g (seed %llu)\n", name.c_str(),
                 start.size(), threads, difference, static_cast<unsigned long long>(seed));
    right = false;
  }
  return right;
}

/// As on nodes of two ranks, the last one perhaps of one.
std::unique_ptr<Scheme> in_pairs(MPI_Comm comm, Team& team, std::size_t bodies) {
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(comm, apps::rank_of(comm) / 2, 0, &pair);
  std::unique_ptr<Scheme> scheme = node_shared_among(comm, pair, team, bodies);
  MPI_Comm_free(&pair);
  return scheme;
}

/// Blocks of many steps each: 301 bodies have 45,150 pairs.
std::unique_ptr<Scheme> often_looking(MPI_Comm comm, Team& team, std::size_t bodies) {
  return overlapped_in(4, comm, team, bodies, 500);
}

/// Blocks that are not cut into steps.
std::unique_ptr<Scheme> in_eight(MPI_Comm comm, Team& team, std::size_t bodies) {
  return overlapped_in(8, comm, team, bodies, bodies * bodies);
}

const SchemeRow& named(const std::string& name) {
  return *std::ranges::find(schemes(), name, &SchemeRow::name);
}

/// What is said of a run with other exchanges.
std::string problem_with(const char* scheme_name, const Exchanges& with) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  Team one = team(1);
  const auto scheme = named(scheme_name).make(comm, one, 100);
  Simulation simulation(comm, scattered(100, seed), leapfrog(), dt, one, *scheme);
  StepTimes times;
  simulation.begin(with);
  simulation.step(with, times);
  const std::string replicas = simulation.replicas_problem(), forces = simulation.forces_problem();
  return replicas.empty() ? forces : replicas;
}

/// An allreduce after which rank 0 has other last bits.
int differing_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  const int code = MPI_Allreduce(send, receive, count, type, op, comm);
  auto* const numbers = static_cast<double*>(receive);
  // Large enough to change a velocity when it is multiplied by the time step.
  if (apps::rank_of(comm) == 0) numbers[0] *= 1 + 1e-10;
  return code;
}

/// Wrong in one number, alike on all ranks.
int wrong_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = MPI_Allreduce(send, receive, count, type, op, comm);
  static_cast<double*>(receive)[0] *= 1.001;
  return code;
}

bool finds_what_is_wrong() {
  Exchanges differing = plain_mpi, wrong = plain_mpi;
  differing.allreduce = differing_allreduce;
  wrong.allreduce = wrong_allreduce;
  using broken::as_expected;
  bool right = as_expected("plain MPI", problem_with("replicated", plain_mpi), "");
  if (apps::size_of(MPI_COMM_WORLD) > 1)
    right &= as_expected("other bits", problem_with("replicated", differing), "not have the same bodies");
  right &= as_expected("a wrong sum", problem_with("replicated", wrong), "accelerations differ");
  return right & as_expected("a wrong sum", problem_with("balanced", wrong), "accelerations differ");
}

/// Whether reductions behind the computing are tried, where they would win: the wire is slow, and messages cost
/// nothing.
bool tries_overlapped(bool one_node, std::size_t bodies = 4096) {
  const Speeds speeds = {.pairs_per_s = 1e9, .bytes_per_s = 1e8, .message_s = 1e-9};
  return std::ranges::any_of(shortlist(bodies, 2, speeds, one_node),
                             [](std::size_t scheme) { return schemes()[scheme].name == "overlapped"; });
}

bool overlaps_between_nodes_only() {
  if (tries_overlapped(false) && !tries_overlapped(true) && !tries_overlapped(false, 512)) return true;
  std::fprintf(stderr, "overlapped is tried %s\n", tries_overlapped(true) ? "on one node" : "nowhere");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = finds_what_is_wrong() & overlaps_between_nodes_only();
  const auto ranks = static_cast<std::size_t>(apps::size_of(MPI_COMM_WORLD));
  for (const SchemeRow& row : schemes())
    for (const std::size_t bodies : {ranks, std::size_t{301}})
      for (const int threads : {1, 2})
        if (threads == 1 || (has_threads() && bodies == 301))
          right &= moves_alike(row.name, row.make, scattered(bodies, seed), threads);
  right &= moves_alike("node, two ranks each", in_pairs, scattered(301, seed), 1);
  right &= moves_alike("overlapped, with many looks", often_looking, scattered(301, seed), 1);
  right &= moves_alike("overlapped, in eight blocks", in_eight, scattered(301, seed), 1);
  const int code = apps::on_all(right, MPI_COMM_WORLD) ? 0 : 1;
  MPI_Finalize();
  return code;
}
