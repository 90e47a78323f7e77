// A library that has no room for another communicator: the program goes on, and the report says why Wherry stays away.
//
// ranks: 2
#include <mpi.h>

#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

// Communicators that no test needs. MPICH has room for about 2000, others for more than 20000.
constexpr std::size_t plenty = 5000;

/// Duplicates of MPI_COMM_WORLD until there can be no more of them.
std::vector<MPI_Comm> all_there_are() {
  MPI_Comm source = duplicate(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(source, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> comms{source};
  MPI_Comm made = MPI_COMM_NULL;
  while (comms.size() < plenty && MPI_Comm_dup(source, &made) == MPI_SUCCESS) comms.push_back(made);
  return comms;
}

/// Under the default error handler, which would end the program.
void talk_on_the_last(Bench& b, MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  b.left_alone("the MPI library could not make another communicator", before_and_after - 1,
               [&] { b.talk_times(comm, before_and_after); });
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  b.expect(handler == MPI_ERRORS_ARE_FATAL, "the program's error handler is not back");
  MPI_Errhandler_free(&handler);
}

long failures_among(std::vector<MPI_Comm>& comms) {
  const wherry::Settings settings = untuned();
  Witness witness;
  wherry::run::Runtime runtime(settings, wherry::mpi::linked_api(), &witness);
  Bench b{runtime, witness, learner, "no room"};
  talk_on_the_last(b, comms.back());
  // With room again, the next communicator is enabled.
  for (std::size_t i = 0; i < 10; ++i, comms.pop_back()) MPI_Comm_free(&comms.back());
  MPI_Comm next = duplicate(MPI_COMM_WORLD);
  b.repeat(next, 1, [&] { b.talk(next); });
  MPI_Comm_free(&next);
  runtime.finalize();
  return b.failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<MPI_Comm> comms = all_there_are();
  const bool limited = comms.size() < plenty;
  const long failures = limited ? failures_among(comms) : 0;
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return limited ? concluded("no room", failures) : skipped("the library has room for 5000 communicators");
}
