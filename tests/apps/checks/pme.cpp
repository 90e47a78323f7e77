// The check of a step passes what is right and names what is wrong, on every rank. For two ranks and more.
#include "broken.hpp"
#include "pme/step.hpp"

using namespace pme;

namespace {

std::string problem_with(const Decomposition& decomposition, const apps::Collectives& collectives) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  Step step(comm, decomposition);
  MoveTimings moves(step.moves().size(), apps::Timings(comm));
  apps::Timings total(comm);
  return step.problem_of(step.run(collectives, moves, total));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  using broken::as_expected;
  const Grid grid{16, 16, 6};
  const int ranks = apps::size_of(MPI_COMM_WORLD);
  bool right = true;
  for (const Decomposition& way : {slabs(grid, ranks), pencils(grid, ranks)}) {
    right &= as_expected("plain MPI", problem_with(way, apps::plain_mpi), "");
    right &= as_expected("Wherry", problem_with(way, apps::wherrys), "");
    const std::string wrong = problem_with(way, broken::broken(broken::repeats<sizeof(Complex)>));
    right &= as_expected("a value twice", wrong, "the spectrum is off");
  }
  const int code = apps::on_all(right, MPI_COMM_WORLD) ? 0 : 1;
  MPI_Finalize();
  return code;
}
