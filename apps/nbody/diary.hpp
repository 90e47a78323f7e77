// What a rank does during accelerations, and how long it takes.
#pragma once

#include <mpi.h>

#include <array>
#include <numeric>
#include <set>
#include <string>

#include "nbody/spans.hpp"
#include "support/mpi/simulated.hpp"

namespace nbody {

/// How computing takes time on a simulated machine.
struct ComputeRate {
  double pairs_per_s = 0;  // of a rank, for both bodies of each; 0: the clock runs by itself
  bool pretended = false;  // pairs take time, but are not computed
};

/// A pair for one of its two bodies only, in pairs for both: 18 of 22 vector instructions (docs/how-to/nbody.md).
constexpr double one_sided = 18.0 / 22;

class Diary {
 public:
  /// spans: where to keep them too; nullptr: only their sums.
  explicit Diary(const ComputeRate& compute_rate = {}, Spans* spans = nullptr)
      : compute_rate_(compute_rate), spans_(spans) {}

  /// pairs: for both bodies, that the call computes.
  template <class Call>
  void compute(double pairs, Call&& call) {
    time(Doing::compute, everybody, [&] {
      if (!compute_rate_.pretended) call();
      if (compute_rate_.pairs_per_s > 0) apps::charge(pairs / compute_rate_.pairs_per_s);
    });
  }
  template <class Call>
  void exchange(Doing doing, Call&& call, int group = everybody) {
    time(doing, group, call);
  }
  /// What ran in an exchange.
  void note(const char* strategy) { strategies_.insert(strategy); }

  double compute_s() const { return spent_s_[static_cast<std::size_t>(Doing::compute)]; }
  double exchange_s() const { return std::accumulate(spent_s_.begin(), spent_s_.end(), 0.0) - compute_s(); }
  const std::set<std::string>& strategies() const { return strategies_; }

 private:
  template <class Call>
  void time(Doing doing, int group, Call&& call) {
    const double begin_s = MPI_Wtime();
    call();
    const double end_s = MPI_Wtime();
    spent_s_[static_cast<std::size_t>(doing)] += end_s - begin_s;
    if (spans_ != nullptr) spans_->push_back({doing, group, begin_s, end_s});
  }

  ComputeRate compute_rate_;
  Spans* spans_;
  std::array<double, kinds_of_doing> spent_s_{};
  std::set<std::string> strategies_;
};

}  // namespace nbody
