// How long do the collectives of the MPI library take, and are their answers right?
//
//   bench_collectives --operations alltoall,bcast --sizes 64,1024 --turns 20 --calls 5
// A sample is the mean of --calls calls back to back on the slowest rank. The library's settings say which algorithm
// runs: `wherry tune --library` launches this program once for each. A wrong answer ends the run, so that an algorithm
// that is not for the case is never taken for a fast one. Sizes are bytes of a block: what a rank sends to one other
// (alltoall...), contributes (allgather..., gather), receives (scatter, reduce_scatter...), or the whole message
// (reduce, allreduce, bcast).
#include "operations.hpp"

namespace {

using bench::Case;
using bench::Operation;

/// Seconds per call of `calls` calls back to back, this rank's.
double time_calls(const Operation& operation, Case& c, int calls) {
  bench::meet(c);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) operation.call(c);
  return (MPI_Wtime() - start) / calls;
}

void measure(const Operation& operation, int block, int turns, int calls) {
  Case c(MPI_COMM_WORLD, block);
  const std::string name = std::string(operation.name) + " " + std::to_string(block) + " B";
  operation.call(c);
  if (!operation.right(c)) bench::end_with(name + ": wrong result");
  std::vector<double> samples;
  for (int turn = 0; turn < turns; ++turn) samples.push_back(time_calls(operation, c, calls));
  if (!operation.right(c)) bench::end_with(name + ": wrong result");
  const std::vector<double> worst = bench::slowest(c, samples);
  if (c.rank == 0) bench::print(name, "library", worst);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto names = bench::words(bench::option(argc, argv, "--operations", "alltoall"));
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "64,1024,16384"));
  const int turns = bench::number(argc, argv, "--turns", 20), calls = bench::number(argc, argv, "--calls", 5);
  for (const std::string& name : names)
    for (const int block : sizes) measure(bench::find(name), block, turns, calls);
  MPI_Finalize();
}
