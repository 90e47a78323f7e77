// Prints how windows are cached whose info says nothing, whose info does, and whose key is unknown; or makes one whose
// info cannot be.
//
// Runs under mpiexec at 2 or more ranks of one node. Rank 0 prints a line for each: "cached", or why it is not. With
// the argument `wrong` the last rank gives a value that cannot be, and MPI ends the program.
#include <mpi.h>
#include <wherry/window.h>

#include <cstdio>

namespace {

void print_window(const char* key, const char* value) {
  int rank = 0, memory = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (key != nullptr) MPI_Info_set(info, key, value);
  MPI_Win win = MPI_WIN_NULL;
  wherry_win_create(&memory, sizeof memory, 1, info, MPI_COMM_WORLD, &win);
  const char* const why = wherry_win_why_not_cached(win);
  if (rank == 0) std::printf("%s\n", why == nullptr ? "cached" : why);
  wherry_win_free(&win);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    print_window("wherry_cache", rank == size - 1 ? "usr" : "user");
  }
  print_window(nullptr, nullptr);
  print_window("wherry_cache", "user");
  print_window("wherry_cache_cieling", "1M");
  MPI_Finalize();
  return 0;
}
