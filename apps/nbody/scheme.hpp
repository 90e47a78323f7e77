// Ways to divide the work of an acceleration among ranks: who computes which pairs, and what is exchanged for it.
#pragma once

#include <mpi.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nbody/exchanges.hpp"
#include "nbody/team.hpp"

namespace nbody {

/// All arrays are of all bodies on every rank; what of them is current is the scheme's affair.
struct System {
  explicit System(Bodies all) : bodies(std::move(all)), accelerations(bodies.size()) {}
  Bodies bodies;
  Vectors accelerations;
};

/// Where the time of one acceleration went on this rank, and what ran.
class Diary {
 public:
  template <class Call>
  void compute(Call&& call) {
    time(compute_s_, call);
  }
  template <class Call>
  void exchange(Call&& call) {
    time(exchange_s_, call);
  }
  void note(const char* strategy) { strategies_.insert(strategy); }

  double compute_s() const { return compute_s_; }
  double exchange_s() const { return exchange_s_; }
  const std::set<std::string>& strategies() const { return strategies_; }

 private:
  template <class Call>
  static void time(double& sum_s, Call&& call) {
    const double start = MPI_Wtime();
    call();
    sum_s += MPI_Wtime() - start;
  }
  double compute_s_ = 0, exchange_s_ = 0;
  std::set<std::string> strategies_;
};

class Scheme {
 public:
  Scheme() = default;
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  /// The bodies that this rank moves: a part of them, or on every rank all.
  virtual Range owned() const = 0;
  /// Makes the accelerations of the owned bodies those of their places. On entry the places of the owned bodies are
  /// current, of all at the first call. Collective.
  virtual void accelerate(System& system, const Exchanges& with, Diary& diary) = 0;
};

struct SchemeRow {
  std::string name;
  std::string meaning;
  bool reproducible;  // the same bits for every number of ranks and threads
  std::unique_ptr<Scheme> (*make)(MPI_Comm comm, Team& team, std::size_t bodies);
  /// What an acceleration costs, for a choice without trying: pairs that the busiest rank computes (for both bodies, as
  /// `Team::both`), bytes that a rank sends, and messages that follow each other.
  struct Cost {
    double pairs, bytes, messages;
  };
  Cost (*cost)(double bodies, double ranks);
};
const std::vector<SchemeRow>& schemes();

}  // namespace nbody
