#include "nbody/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

constexpr std::size_t most_tried = 3;
constexpr int trials = 3;

/// The shortest of some calls of all ranks together; the slowest rank counts.
template <class Call>
double shortest_s(MPI_Comm comm, Call&& call) {
  double least_s = 0;
  for (int trial = 0; trial < trials; ++trial) {
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    call();
    const double all_s = apps::reduced(MPI_Wtime() - start, MPI_MAX, comm);
    least_s = trial == 0 ? all_s : std::min(least_s, all_s);
  }
  return least_s;
}

/// An allreduce of so many numbers.
double allreduce_s(MPI_Comm comm, std::size_t count) {
  std::vector<double> numbers(count);
  return shortest_s(comm, [&] {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm);
  });
}

}  // namespace

double expected_s(const SchemeRow& scheme, double bodies, double ranks, const Speeds& speeds) {
  const SchemeRow::Cost cost = scheme.cost(bodies, ranks);
  const double computing_s = cost.pairs / speeds.pairs_per_s;
  if (ranks == 1) return computing_s;
  return std::max(computing_s, cost.hidden_bytes / speeds.bytes_per_s) + cost.bytes / speeds.bytes_per_s +
         cost.messages * speeds.message_s;
}

std::vector<std::size_t> shortlist(std::size_t bodies, int ranks, const Speeds& speeds, bool one_node) {
  std::vector<std::size_t> order(schemes().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t scheme) {
    return schemes()[scheme].why_instead(bodies, ranks, one_node) != nullptr;
  });
  std::ranges::sort(order, {}, [&](std::size_t scheme) {
    return std::pair(expected_s(schemes()[scheme], static_cast<double>(bodies), ranks, speeds), scheme);
  });
  order.resize(std::min(most_tried, order.size()));
  return order;
}

Speeds measure(MPI_Comm comm, Team& team, const System& system, const ComputeRate& compute_rate) {
  constexpr std::size_t most_bodies = 2048, many = 1 << 16;
  const double p = apps::size_of(comm);
  const Range some{0, std::min(most_bodies, system.bodies.size())};
  const Work work = {Piece{some, some}};
  Vectors sums(system.bodies.size());
  const auto count = static_cast<double>(pairs(work));
  const double pairs_s = shortest_s(comm, [&] {
    Diary(compute_rate).compute(count, [&] { team.both(system.bodies.points(), work, sums.sums()); });
  });
  const double short_s = allreduce_s(comm, 1), long_s = allreduce_s(comm, many);
  const double bytes = 2 * sizeof(double) * static_cast<double>(many) * (p - 1) / p;
  constexpr double least_s = 1e-9;  // a clock may stand still
  return {.pairs_per_s = count / std::max(pairs_s, least_s),
          .bytes_per_s = bytes / std::max(long_s - short_s, least_s),
          // An allreduce of little goes up and down a tree.
          .message_s = p > 1 ? short_s / (2 * std::ceil(std::log2(p))) : 0};
}

namespace {

/// Rank 0's: where processors differ, so may the last bits of a model.
std::vector<std::size_t> agreed_shortlist(MPI_Comm comm, std::size_t bodies, const Speeds& speeds) {
  std::vector<std::size_t> order = shortlist(bodies, apps::size_of(comm), speeds, apps::on_one_node(comm));
  MPI_Bcast(order.data(), static_cast<int>(order.size() * sizeof(std::size_t)), MPI_BYTE, 0, comm);
  return order;
}

}  // namespace

Choice choose(MPI_Comm comm, Team& team, const System& system, const Exchanges& with,
              const ComputeRate& compute_rate) {
  const Speeds speeds = measure(comm, team, system, compute_rate);
  Choice best{};
  double best_s = 0;
  for (const std::size_t number : agreed_shortlist(comm, system.bodies.size(), speeds)) {
    const SchemeRow& row = schemes()[number];
    const std::unique_ptr<Scheme> scheme = row.make(comm, team, system.bodies.size());
    System copy = system;
    Diary diary(compute_rate);
    const double time_s = shortest_s(comm, [&] { scheme->accelerate(copy, with, diary); });
    if (best.reason.empty() || time_s < best_s) {
      best_s = time_s;
      best.scheme = number;
    }
    char text[100];
    std::snprintf(text, sizeof text, "%s%s %.3g ms", best.reason.empty() ? "" : ", ", row.name.c_str(),
                  1e3 * time_s);
    best.reason += text;
  }
  return best;
}

}  // namespace nbody
