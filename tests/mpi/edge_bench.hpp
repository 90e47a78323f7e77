// A bench for calls at the edges of what MPI allows: Wherry must behave as the library, and what was meant must run.
//
// Every case runs with several strategies forced, and with the learner.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime.hpp"
#include "schedule/blocks/block_strategy.hpp"

namespace wherry::test {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

inline MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &made);
  return made;
}

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// The same for every rank.
template <class Value>
std::vector<Value> all(int size, Value value) {
  return std::vector<Value>(static_cast<std::size_t>(size), value);
}

/// The learner instead of one strategy.
inline constexpr std::string_view learner = "auto";

inline constexpr std::string_view one_rank = "communicator of one rank";
inline constexpr std::string_view does_not_apply =
    "the strategy asked for does not exist or does not apply to these ranks";

/// Counts what ran and what was native. Calls may come from any thread.
class Witness : public run::Observer {
 public:
  void used(MPI_Comm, const run::CellKey&, std::string_view strategy, std::uint64_t, std::uint64_t) override {
    const std::lock_guard lock(mutex_);
    ++ran_[std::string(strategy)];
    ++ran_[std::string(learner)];
  }
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t, std::string_view, profile::Reason, std::uint64_t,
               std::uint64_t) override {}
  void fell_back(Collective, std::string_view reason) override {
    const std::lock_guard lock(mutex_);
    ++fell_back_[std::string(reason)];
    ++fallbacks_;
  }

  /// Calls that ran by this strategy; by the learner: all that Wherry had in hand.
  long ran(std::string_view strategy) const { return count(ran_, strategy); }
  /// Calls that ran by any strategy, whoever chose it.
  long ran_by_strategies() const { return ran(learner) - ran("native"); }
  /// Calls that were native for this reason, or for any.
  long fallbacks_for(std::string_view reason) const { return count(fell_back_, reason); }
  long fallbacks() const { return fallbacks_; }

 private:
  using Counts = std::map<std::string, long, std::less<>>;
  static long count(const Counts& counts, std::string_view name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

  std::mutex mutex_;
  Counts ran_, fell_back_;
  long fallbacks_ = 0;
};

inline constexpr int before_and_after = 4;  // calls: the second enables the communicator

/// A runtime under test, what is meant to run in it, and what was found wrong.
struct Bench {
  run::Runtime& runtime;
  const Witness& witness;
  std::string_view meant;  // a strategy, or the learner
  std::string label;
  long failures = 0;

  void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d, %s: %s\n", rank_of(MPI_COMM_WORLD), label.c_str(), what);
  }

  int alltoall(const run::Alltoall& c) const {
    return runtime.alltoall(c, [&] {
      return MPI_Alltoall(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                          static_cast<int>(c.recvcount), c.recvtype, c.comm);
    });
  }
  int alltoallv(const void* sendbuf, const std::vector<int>& sendcounts, const std::vector<int>& sdispls,
                MPI_Datatype sendtype, void* recvbuf, const std::vector<int>& recvcounts,
                const std::vector<int>& rdispls, MPI_Datatype recvtype, MPI_Comm comm) const {
    return runtime.alltoallv({sendbuf, sendcounts.data(), sdispls.data(), sendtype, recvbuf,
                              recvcounts.data(), rdispls.data(), recvtype, comm},
                             [&] {
                               return MPI_Alltoallv(sendbuf, sendcounts.data(), sdispls.data(), sendtype,
                                                    recvbuf, recvcounts.data(), rdispls.data(), recvtype,
                                                    comm);
                             });
  }
  int alltoallw(const void* sendbuf, const std::vector<int>& sendcounts, const std::vector<int>& sdispls,
                const std::vector<MPI_Datatype>& sendtypes, void* recvbuf, const std::vector<int>& recvcounts,
                const std::vector<int>& rdispls, const std::vector<MPI_Datatype>& recvtypes,
                MPI_Comm comm) const {
    return runtime.alltoallw({sendbuf, sendcounts.data(), sdispls.data(), sendtypes.data(), recvbuf,
                              recvcounts.data(), rdispls.data(), recvtypes.data(), comm},
                             [&] {
                               return MPI_Alltoallw(sendbuf, sendcounts.data(), sdispls.data(),
                                                    sendtypes.data(), recvbuf, recvcounts.data(),
                                                    rdispls.data(), recvtypes.data(), comm);
                             });
  }

  /// One plain exchange: every rank tells every other a number of its own.
  void talk(MPI_Comm comm, int salt = 0) {
    const int rank = rank_of(comm), size = size_of(comm);
    std::vector<int> out(static_cast<std::size_t>(size)), in(out.size(), -1);
    for (int r = 0; r < size; ++r) out[static_cast<std::size_t>(r)] = salt + 1000 * rank + r;
    const int code = alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm});
    bool right = code == MPI_SUCCESS;
    for (int r = 0; r < size; ++r) right = right && in[static_cast<std::size_t>(r)] == salt + 1000 * r + rank;
    expect(right, "a plain exchange went wrong");
  }
  void talk_times(MPI_Comm comm, int times) {
    for (int i = 0; i < times; ++i) talk(comm, i);
  }

  /// In `body` at least so many calls must run as meant, and none be native with a reason.
  void as_meant(long calls, const std::function<void()>& body) {
    const long ran = witness.ran(meant), before = witness.fallbacks();
    body();
    expect(witness.ran(meant) - ran >= calls, "what was meant did not run");
    expect(witness.fallbacks() == before, "a call was native");
  }
  /// In `body` at least so many calls must be native for this reason, and none run by a strategy.
  void left_alone(std::string_view reason, long calls, const std::function<void()>& body) {
    const long ran = witness.ran_by_strategies(), before = witness.fallbacks_for(reason);
    body();
    expect(witness.fallbacks_for(reason) - before >= calls, "no reason was given for staying away");
    expect(witness.ran_by_strategies() == ran, "a strategy ran where Wherry should stay away");
  }
  /// Why what was meant cannot run on comm; empty if it can.
  std::string_view obstacle(MPI_Comm comm) const {
    if (size_of(comm) == 1) return one_rank;
    const schedule::Strategy* const strategy = schedule::find_strategy(meant);
    const bool applies = strategy == nullptr || strategy->applies(topology::Placement::flat(size_of(comm)));
    return applies ? "" : does_not_apply;
  }
  /// As meant where that can run on comm, and otherwise native with the right reason.
  void as_fits(MPI_Comm comm, long calls, const std::function<void()>& body) {
    const std::string_view reason = obstacle(comm);
    if (reason.empty()) as_meant(calls, body);
    else left_alone(reason, calls, body);
  }

  /// Runs a body with calls on comm several times: after the first time Wherry must run at least `calls` in each.
  void repeat(MPI_Comm comm, long calls, const std::function<void()>& body) {
    for (int i = 0; i < before_and_after; ++i) as_fits(comm, i > 0 ? calls : 0, body);
  }
};

struct Case {
  const char* name;
  void (*run)(Bench&);
};

inline Settings untuned() {
  Settings settings;
  settings.features.tuning = false;
  return settings;
}

/// Runs the cases with one strategy, or with the learner; returns what failed on this rank.
inline long failures_with(std::string_view meant, std::span<const Case> cases) {
  const Settings settings = untuned();
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  runtime.force(meant);
  long failures = 0;
  for (const Case& c : cases) {
    Bench bench{runtime, witness, meant, std::string(meant) + ", " + c.name};
    c.run(bench);
    failures += bench.failures;
  }
  runtime.finalize();
  return failures;
}

inline long failures_of(std::span<const Case> cases) {
  long failures = 0;
  // "direct" is what runs on two ranks; the others need three.
  constexpr std::string_view strategies[] = {learner, "direct", "pairwise", "bruck2"};
  for (const std::string_view meant : strategies) failures += failures_with(meant, cases);
  return failures;
}

/// Ends MPI; returns the exit code of the program.
inline int concluded(const char* title, long failures) {
  long sum = 0;
  MPI_Allreduce(&failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("%s: %ld failures\n", title, sum);
  MPI_Finalize();
  return sum != 0;
}

/// The same for a program that can test nothing here; test_programs.py reports the reason.
inline int skipped(const char* reason) {
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("skipped: %s\n", reason);
  MPI_Finalize();
  return 0;
}

}  // namespace wherry::test
