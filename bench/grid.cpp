// Which is fastest, of the library's own collective, what Wherry chooses after training, and every strategy?
//
//   bench_grid --operations allreduce,bcast --sizes 8,1024 --turns 6
// All run in one process in turns; the ranks enter each call together, and a sample is one call on the slowest rank. Run it
// under the preload. What a size is, bench/operations.hpp says. With `--strategies first`, the library's own and the first
// strategy only: by that one, launches are compared in which the library was told different algorithms.
#include <iterator>

#include "exchange.hpp"
#include "operations.hpp"
#include "strategies.hpp"

namespace {

using namespace wherry;
using bench::Case;

/// Seconds of one call, this rank's.
double time_call(const bench::Operation& operation, Case& c) {
  bench::meet(c);
  const double start = MPI_Wtime();
  operation.call(c);
  return MPI_Wtime() - start;
}

/// So many that they take about so long; the same on all ranks.
int calls_in(double seconds, double once, int least, int most) {
  int calls = std::clamp(static_cast<int>(seconds / once), least, most);
  MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return calls;
}

void require_right(const bench::Operation& operation, const Case& c, const std::string& what) {
  if (!operation.right(c)) bench::end_with("bench_grid: " + what + ": wrong result");
}

void measure(const bench::Operation& operation, int block, const std::vector<std::string>& variants,
             int turns) {
  Case c(MPI_COMM_WORLD, block);
  bench::force("native");
  operation.call(c);
  const double once = time_call(operation, c);
  const int training = calls_in(0.6, once, 60, 300), samples = calls_in(20e-3, once, 1, 10);
  bench::force("wherry");
  for (int i = 0; i < training; ++i) operation.call(c);

  const std::string name = std::string(operation.name) + " " + std::to_string(block) + " B";
  std::vector<std::vector<double>> times(variants.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      bench::force(variants[i]);
      c.forget();
      operation.call(c);  // not timed: the first call after a change pays for the change
      require_right(operation, c, name + " by " + variants[i]);
      for (int k = 0; k < samples; ++k) times[i].push_back(time_call(operation, c));
    }
  bench::force("native");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::vector<double> worst = bench::slowest(c, times[i]);
    if (c.rank == 0) bench::print(name, variants[i], worst);
  }
}

std::vector<std::string> variants_of(const std::string& operation, const plan::Shape& shape, bool all) {
  const std::vector<std::string> strategies = bench::strategies_of(operation, shape);
  if (!all) return {"native", strategies.front()};
  std::vector<std::string> variants = {"native", "wherry"};
  std::ranges::copy(strategies, std::back_inserter(variants));
  return variants;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::force("native");
  const plan::Shape shape = bench::shape_of(MPI_COMM_WORLD);
  const auto names = bench::words(bench::option(argc, argv, "--operations", "allreduce"));
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "8,1024,16384"));
  const int turns = bench::number(argc, argv, "--turns", 6);
  const bool all = bench::option(argc, argv, "--strategies", "all") == "all";
  for (const std::string& name : names)
    for (const int block : sizes) measure(bench::find(name), block, variants_of(name, shape, all), turns);
  MPI_Finalize();
}
