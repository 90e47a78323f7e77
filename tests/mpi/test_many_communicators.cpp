// Libraries run out of communicators: Wherry is enabled on so many at once and leaves the rest to the program.
//
// ranks: 2
#include <mpi.h>

#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

constexpr int enabled_at_most = 64;

void many_at_once(Bench& b) {
  std::vector<MPI_Comm> comms(1100, MPI_COMM_NULL);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    comms[i] = duplicate(MPI_COMM_WORLD);
    const auto talk = [&] { b.talk_times(comms[i], 3); };
    if (i < enabled_at_most) b.as_meant(2, talk);
    else b.left_alone("too many communicators at once", 2, talk);
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  // What was freed counts no more.
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.repeat(comm, 1, [&] { b.talk(comm); });
  MPI_Comm_free(&comm);
}

constexpr Case cases[] = {{"many communicators", many_at_once}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("many communicators", failures_with(learner, cases));
}
