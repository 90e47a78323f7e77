// How long calls take: the ranks enter together, and the slowest counts.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/mpi/comm.hpp"
#include "support/report.hpp"

namespace apps {

/// Times of one kind of call with one of the two sides.
class Timings {
 public:
  explicit Timings(MPI_Comm comm) : comm_(comm) {}

  /// Runs the call from a barrier. Collective over the communicator.
  template <class Call>
  void time(Call&& call) {
    MPI_Barrier(comm_);
    const double start = MPI_Wtime();
    call();
    mine_s_.push_back(MPI_Wtime() - start);
  }

  /// The slowest rank's, call by call. Collective: one reduction for all calls.
  std::vector<double> slowest() const { return reduced(mine_s_, MPI_MAX, comm_); }

  void note(const std::string& strategy) {
    if (std::ranges::find(strategies_, strategy) == strategies_.end()) strategies_.push_back(strategy);
  }
  const std::vector<std::string>& strategies() const { return strategies_; }

 private:
  MPI_Comm comm_;
  std::vector<double> mine_s_;
  std::vector<std::string> strategies_;
};

/// Of one kind of call with both sides. Collective.
inline Measurement measured(const std::string& name, const std::string& metric, double message_bytes,
                            const Timings& plain, const Timings& wherry) {
  return {.name = name,
          .metric = metric,
          .message_bytes = message_bytes,
          .plain_s = plain.slowest(),
          .wherry_s = wherry.slowest(),
          .strategies = wherry.strategies()};
}

}  // namespace apps
