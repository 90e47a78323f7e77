// Calls on a communicator whose errors are looked at: each is reported once, and nothing stays under way.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edge_bench.hpp"
#include "topology/placement.hpp"
#include "watched_library.hpp"

namespace wherry::test {

inline int handled_calls = 0, handled_class = MPI_SUCCESS;

inline void note_error(MPI_Comm*, int* code, ...) {
  ++handled_calls;
  handled_class = class_of(*code);
}

/// A communicator of its own for what is tested. Wherry must go through watched_library().
class WatchedCalls {
 public:
  /// what: is tested, for messages. failures: counts what was found wrong.
  WatchedCalls(std::string what, long& failures) : what_(std::move(what)), failures_(failures) {
    comm_ = duplicate(MPI_COMM_WORLD);
    rank = rank_of(comm_);
    size = size_of(comm_);
    MPI_Comm_create_errhandler(note_error, &handler_);
    MPI_Comm_set_errhandler(comm_, handler_);
  }
  WatchedCalls(const WatchedCalls&) = delete;
  WatchedCalls& operator=(const WatchedCalls&) = delete;
  ~WatchedCalls() {
    MPI_Errhandler_free(&handler_);
    MPI_Comm_free(&comm_);
  }

  void expect(bool holds, const std::string& what) {
    if (holds) return;
    ++failures_;
    std::fprintf(stderr, "rank %d of %d, %s, %s: %s\n", rank, size, what_.c_str(), label.c_str(),
                 what.c_str());
  }

  /// Makes the call, which must report this class of error, once, and leave nothing under way.
  void call(int expected_class, const std::function<int()>& body) {
    expect_class(call(body), expected_class);
  }
  int call(const std::function<int()>& body) {
    handled_calls = 0;
    handled_class = MPI_SUCCESS;
    const int reported = class_of(body());
    expect(open_requests == 0, std::to_string(open_requests) + " requests left behind");
    open_requests = 0;
    expect(handled_calls == (reported != MPI_SUCCESS), "the error handler was not called once");
    expect(handled_class == reported, "the error handler saw another error than the caller");
    return reported;
  }
  void expect_class(int reported, int expected) {
    expect(reported == expected,
           "error class " + std::to_string(reported) + " instead of " + std::to_string(expected));
  }

  /// Refuses one transfer of rank 0 after the other, until there are no more in a call. check: that all is well again.
  void refuse_each(const std::string& name, const std::function<int()>& exchange,
                   const std::function<void()>& check) {
    label = name;
    bool more = true;
    int which = 0;
    while (more) {
      ++which;
      refused_transfer = rank == 0 ? which : 0;
      const int reported = call(exchange);
      more = rank == 0 && refused_transfer == 0;
      refused_transfer = 0;
      // A peer may notice that less came than it needs.
      if (rank == 0) expect_class(reported, more ? MPI_ERR_TYPE : MPI_SUCCESS);
      MPI_Bcast(&more, 1, MPI_C_BOOL, 0, comm_);
      check();
    }
    expect(which > 1, "no transfer was refused");
  }

  MPI_Comm comm() const { return comm_; }

  int rank = 0, size = 0;
  std::string label;

 private:
  std::string what_;
  long& failures_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Whether the library itself respects the end of a receive that is too short for a long message. Open MPI does not.
inline bool truncates_cleanly() {
  constexpr int sent = 40000, received = 20, untouched = -77;
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  std::vector<int> out(sent, rank), in(sent, untouched);
  PMPI_Sendrecv(out.data(), sent, MPI_INT, (rank + 1) % size, 0, in.data(), received, MPI_INT,
                (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int mine = std::all_of(in.begin() + received, in.end(), [](int i) { return i == untouched; });
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && !all)
    std::printf("not checked: this library writes beyond a receive that is too short for a long message\n");
  return all;
}

/// What each strategy is checked with, and what came of it.
struct Trials {
  mpi::Api api = watched_library();
  bool clean = truncates_cleanly();
  topology::Placement placement;
  long failures = 0, strategies = 0;

  explicit Trials(int ranks_per_node)
      : placement(topology::Placement::blocked(size_of(MPI_COMM_WORLD), ranks_per_node)) {}

  /// check(strategy), of each that applies to these ranks.
  template <class Strategies, class Check>
  void each(Strategies&& all, const Check& check) {
    for (const auto& strategy : all)
      if (strategy.applies(placement)) check(strategy), ++strategies;
  }
  int concluded(const char* title) const { return test::concluded(title, strategies > 0 ? failures : 1); }
};

/// MPI's errors are returned everywhere: MPICH 4.0 and Intel MPI report what fails in MPI_Test and MPI_Wait on
/// MPI_COMM_WORLD, whatever its communicator.
inline void start_with_errors_returned(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

}  // namespace wherry::test
