// After training, how far is the choice from the best candidate, and what did the training cost?
//
//   bench_chooser --sizes 8,1024 --strategies mesh,bruck2 --turns 20 --train 200
// Per size: native calls one by one ("native alone") and Wherry's from the first on ("training"); then Wherry's choice
// ("wherry"), native calls ("native") and each strategy in turns. Run it under the preload.
#include "exchange.hpp"

namespace {

/// Single calls, timed one by one: a burst of calls in a loop would overlap.
std::vector<double> single_calls(bench::Exchange& exchange, const char* variant, int calls) {
  std::vector<double> samples;
  bench::force(variant);
  for (int i = 0; i < calls; ++i) samples.push_back(bench::time_calls(MPI_COMM_WORLD, 1, exchange));
  return samples;
}

/// Connections and buffers of the library must not be charged to whoever comes first, nor what Wherry sets up once
/// for a communicator to the first size: blocks of no other case pay for it.
void warm_up(bench::Exchange& exchange) {
  bench::Exchange single(MPI_COMM_WORLD, 1);
  bench::force("wherry");
  for (int i = 0; i < 60; ++i) single();
  bench::force("native");
  for (int i = 0; i < 5; ++i) exchange();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "8,1024,65536"));
  auto variants = bench::words(bench::option(argc, argv, "--strategies", ""));
  variants.insert(variants.begin(), {"wherry", "native"});
  const int turns = bench::number(argc, argv, "--turns", 20),
            calls = bench::number(argc, argv, "--train", 200);
  for (const int block : sizes) {
    bench::Exchange exchange(MPI_COMM_WORLD, block);
    warm_up(exchange);
    const std::vector<double> alone = single_calls(exchange, "native", 50);
    const std::vector<double> training = single_calls(exchange, "wherry", calls);
    const auto samples = bench::compare(MPI_COMM_WORLD, exchange, variants, turns);
    if (bench::rank_of(MPI_COMM_WORLD) != 0) continue;
    bench::print(bench::case_name(block), "native alone", alone);
    bench::print(bench::case_name(block), "training", training);
    for (std::size_t i = 0; i < variants.size(); ++i)
      bench::print(bench::case_name(block), variants[i], samples[i]);
  }
  MPI_Finalize();
}
