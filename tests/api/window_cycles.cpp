// Makes, reads and frees a window again and again, and prints by how many bytes the process has grown since the first
// few.
//
//   window_cycles CYCLES MODE
// MODE: user, off, or node, which is user with memory that the ranks of a node share.
#include <mpi.h>
#include <unistd.h>
#include <wherry/window.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {

constexpr int values = 4096, warm_up = 50;

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Whether what was read is right.
bool cycle(const wherry::WindowOptions& options, int rank, int size) {
  std::vector<double> mine(values, rank), into(values);
  auto window = wherry::Window<double>::create(MPI_COMM_WORLD, mine, options);
  const int next = (rank + 1) % size;
  window.lock_all();
  for (int at = 0; at < values; at += 64) window.get({into.data() + at, 64}, next, at);
  window.flush(next);
  window.get(into, next, 0);
  window.unlock_all();
  return into == std::vector<double>(values, next);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::string mode = argc > 2 ? argv[2] : "user";
  wherry::WindowOptions options;
  if (mode == "node") options.node_bytes = 65536;
  options.mode = mode == "off" ? wherry::CacheMode::off : wherry::CacheMode::user;
  options.bypass = false;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool right = true;
  for (int i = 0; i < warm_up; ++i) right &= cycle(options, rank, size);
  const long before = resident_bytes();
  for (int i = 0; i < cycles; ++i) right &= cycle(options, rank, size);
  long grown = resident_bytes() - before, most = 0;
  MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("grown %ld bytes\n", most);
  MPI_Finalize();
  return right ? 0 : 1;
}
