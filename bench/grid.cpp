// Which is fastest, of the native collective, what Wherry chooses after training, every strategy, and every
// native algorithm?
//
//   bench_grid --operations allreduce,bcast --sizes 8,1024 --turns 6
// Wherry's choice is trained by calls for 0.5 s, 160 to 10,000. Then all run in one process in turns; the ranks enter
// each call together, and a sample is one call on the slowest rank. Run it under the preload. What a size is,
// bench/operations.hpp says.
#include <iterator>

#include "base/stats.hpp"
#include "exchange.hpp"
#include "library_algorithms.hpp"
#include "operations.hpp"
#include "strategies.hpp"

namespace {

using namespace wherry;
using bench::Case;

/// Who performs the calls of a turn.
struct Variant {
  std::string name, strategy;
  std::optional<int> algorithm = {};  // a native one
  std::string excluded = {};          // why no more turns
  std::vector<double> times = {};
};

/// What it takes to measure an operation on blocks of one size.
struct Measured {
  const bench::Operation& operation;
  Case c;
  bench::LibraryAlgorithms library;
};

/// Seconds of one call, this rank's.
double time_call(Measured& m) {
  bench::meet(m.c);
  const double start = MPI_Wtime();
  m.operation.call(m.c);
  return MPI_Wtime() - start;
}

/// So many that they take about so long; the same on all ranks.
int calls_in(double seconds, double once, int least, int most) {
  int calls = std::clamp(static_cast<int>(seconds / once), least, most);
  MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return calls;
}

/// What the library takes: of a single call it might be ten times as much.
double usual_seconds(Measured& m) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) times.push_back(time_call(m));
  return median(times);
}

/// Lets Wherry choose by calls that are like those measured.
void train(Measured& m, double once) {
  const int calls = calls_in(0.5, once, bench::least_training, 10'000);
  bench::force("wherry");
  for (int i = 0; i < calls; ++i) time_call(m);
}

/// An untimed call, which pays for the change of variants. Why the variant is no good; empty if it is.
std::string try_call(Measured& m) {
  m.c.forget();
  const int code = m.operation.call(m.c);
  if (code == MPI_SUCCESS) return m.operation.right(m.c) ? "" : "wrong result";
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return text.data();
}

/// On all ranks alike, though only some may have seen what is wrong.
std::string agree(const std::string& problem) {
  int mine = problem.empty() ? 0 : 1, any = 0;
  MPI_Request request = MPI_REQUEST_NULL;  // by the nonblocking form, whose algorithm nobody sets
  MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return any == 0 || !problem.empty() ? problem : "failed on another rank";
}

void take_turn(Measured& m, Variant& variant, int samples) {
  bench::force(variant.strategy);
  if (variant.algorithm) m.c.comm = m.library.begin(*variant.algorithm);
  const std::string problem = try_call(m);
  if (variant.algorithm) variant.excluded = agree(problem);
  else if (!problem.empty()) bench::end_with("bench_grid: " + variant.name + ": " + problem);
  if (variant.excluded.empty())
    for (int k = 0; k < samples; ++k) variant.times.push_back(time_call(m));
  if (variant.algorithm) m.library.end();
  m.c.comm = MPI_COMM_WORLD;
  // Who is first to leave the last call prepares the next variant, and takes the processor from those who are still in
  // it.
  bench::meet(m.c);
}

void show(const Case& c, const std::string& what, const Variant& variant) {
  if (!variant.excluded.empty()) {
    if (c.rank == 0) bench::print_excluded(what, variant.name, variant.excluded);
    return;
  }
  const std::vector<double> worst = bench::slowest(c, variant.times);
  if (c.rank == 0) bench::print(what, variant.name, worst);
}

std::vector<Variant> variants_of(const std::string& operation, const bench::LibraryAlgorithms& library) {
  std::vector<Variant> variants = {{"native", "native"}, {"wherry", "wherry"}};
  for (const std::string& strategy : bench::strategies_of(operation, bench::placement_of(MPI_COMM_WORLD)))
    variants.push_back({strategy, strategy});
  for (const auto& [name, number] : library.all()) variants.push_back({"library: " + name, "native", number});
  return variants;
}

void measure(const std::string& name, int block, int most_turns) {
  bench::force("native");
  const bench::Operation& operation = bench::find(name);
  Measured m{operation, Case(MPI_COMM_WORLD, block), bench::LibraryAlgorithms(MPI_COMM_WORLD, name)};
  const double once = usual_seconds(m);
  const int turns = calls_in(0.3, once, std::min(4, most_turns), most_turns);
  const int samples = calls_in(20e-3, once, 1, 10);
  train(m, once);

  std::vector<Variant> variants = variants_of(name, m.library);
  for (int turn = 0; turn < turns; ++turn)
    for (Variant& variant : variants)
      if (variant.excluded.empty()) take_turn(m, variant, samples);
  bench::force("native");
  for (const Variant& variant : variants) show(m.c, name + " " + std::to_string(block) + " B", variant);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto names = bench::words(bench::option(argc, argv, "--operations", "allreduce"));
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "8,1024,16384"));
  const int turns = bench::number(argc, argv, "--turns", 6);
  for (const std::string& name : names)
    for (const int block : sizes) measure(name, block, turns);
  MPI_Finalize();
}
