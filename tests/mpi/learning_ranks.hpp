// Ranks that learn together: what ran on each, and what disturbs them.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include "host/runtime.hpp"

namespace wherry::test {

/// Remembers which strategies ran, as one number per communicator that depends on their order.
class Witness : public run::Observer {
 public:
  void used(MPI_Comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t,
            std::uint64_t) override {
    ++calls;
    ++by_strategy[std::string(strategy)];
    const std::size_t seen =
        std::hash<std::string_view>{}(strategy) + kind.bucket * 131u + index_of(kind.collective);
    history = history * 1099511628211ull + seen;
  }
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t, std::string_view, profile::Reason reason,
               std::uint64_t, std::uint64_t) override {
    ++decisions[reason];
  }
  void compared(MPI_Comm, const tuning::TrialResult& told) override { claim = told; }
  void fell_back(Collective, std::string_view) override { ++fallbacks; }

  long calls = 0, fallbacks = 0;
  std::uint64_t history = 0;
  tuning::TrialResult claim;
  std::map<std::string, long> by_strategy;
  std::map<profile::Reason, long> decisions;
};

struct Ranks {
  int rank = 0, size = 0;
  long failures = 0;

  void expect(bool holds, const char* law) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d of %d: %s\n", rank, size, law);
  }
  /// Whether a number is the same on all ranks.
  bool agree(std::uint64_t value) const {
    std::uint64_t both[2] = {value, ~value}, most[2] = {};
    MPI_Allreduce(both, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most[0] == ~most[1];
  }
};

/// Sleeps now and then, each rank at other times; the last rank is always late.
class Disturbance {
 public:
  Disturbance(const Ranks& ranks, unsigned seed)
      : random_(seed + static_cast<unsigned>(ranks.rank)), late_(ranks.rank == ranks.size - 1) {}
  void strike() {
    if (late_) usleep(50);
    if (random_() % 20 == 0) usleep(static_cast<useconds_t>(random_() % 1500));
  }

 private:
  std::minstd_rand random_;
  bool late_;
};

}  // namespace wherry::test
