// Errors of the program: reported once, as the library does, and without harm to later calls.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <vector>

#include "edge_bench.hpp"
#include "segment_calls.hpp"

namespace {

using namespace wherry::test;

/// Wrong arguments give the library's own class of error, on all ranks or on one that calls alone, and do no harm.
void wrong_arguments(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int n = size_of(comm), rank = rank_of(comm);
  std::vector<int> out = all(n, 1), in = all(n, -1);
  const auto calls = [&](MPI_Comm c, bool ours, int which) {
    const int count = which == 0 ? -1 : 1;
    MPI_Datatype type = MPI_INT;
    if (which == 1) type = MPI_DATATYPE_NULL;
    if (ours && which == 2)
      return b.alltoallv(out.data(), all(n, -1), all(n, 0), MPI_INT, in.data(), all(n, 1), all(n, 0), MPI_INT,
                         c);
    if (which == 2)
      return MPI_Alltoallv(out.data(), all(n, -1).data(), all(n, 0).data(), MPI_INT, in.data(),
                           all(n, 1).data(), all(n, 0).data(), MPI_INT, c);
    return ours ? b.alltoall({out.data(), count, type, in.data(), 1, MPI_INT, c})
                : MPI_Alltoall(out.data(), count, type, in.data(), 1, MPI_INT, c);
  };
  b.repeat(comm, 1, [&] {
    for (int which = 0; which < 3; ++which)
      if (rank <= which) {
        const int expected = class_of(calls(reference, false, which)),
                  got = class_of(calls(comm, true, which));
        b.expect(expected == got && got != MPI_SUCCESS,
                 "a wrong argument was not refused as the library does");
      }
    MPI_Barrier(MPI_COMM_WORLD);  // those who called wrongly must not wait for those who did not
    b.talk(comm);
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

/// The same of the collectives on segments: a negative count, and a root that there is not.
void wrong_arguments_on_segments(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int n = size_of(comm);
  std::vector<int> out = all(n, 1), in = all(n, -1);
  const auto compare = [&](const SegmentCollective& what, int count, int root) {
    const Part there{out.data(), in.data(), count, root, reference},
        here{out.data(), in.data(), count, root, comm};
    const int expected = class_of(what.perform({}, there));
    const int got = class_of(what.perform({&b.runtime, [&] { return what.perform({}, here); }}, here));
    b.expect(expected == got && got != MPI_SUCCESS, "a wrong argument was not refused as the library does");
  };
  b.repeat(comm, 1, [&] {
    for (const SegmentCollective& what : segment_collectives) {
      if (what.operation == wherry::schedule::Operation::barrier) continue;
      // MPICH does not look at the counts of reductions, and fails.
      if (!wherry::schedule::reduces(what.operation)) compare(what, -1, 0);
      if (wherry::schedule::has_root(what.operation)) compare(what, 1, n);
    }
    b.talk(comm);
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

/// No data and no type, on some ranks only: these may get an error, yet all have made the call and enable the
/// communicator at the same one.
void no_type_on_some_ranks(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const MPI_Datatype type = rank_of(comm) % 2 == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  int here = 7;
  const int expected = class_of(MPI_Alltoall(&here, 0, type, &here, 0, type, reference));
  b.repeat(comm, 1, [&] {
    const int got = class_of(b.alltoall({&here, 0, type, &here, 0, type, comm}));
    b.expect(got == expected, "no type for no data was not validated as by the library");
    b.talk(comm);
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

void error_handler_called_once(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int value = 0;
  b.repeat(comm, 1, [&] {
    handled = 0;
    b.alltoall({&value, -1, MPI_INT, &value, 1, MPI_INT, comm});
    b.expect(handled == 1, "the error handler was not called exactly once");
    b.talk(comm);
  });
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

constexpr Case cases[] = {
    {"wrong arguments", wrong_arguments},
    {"wrong arguments on segments", wrong_arguments_on_segments},
    {"no type on some ranks", no_type_on_some_ranks},
    {"error handler", error_handler_called_once},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("errors", failures_of(cases));
}
