// How much faster is MPI_Alltoall under Wherry? Native and Wherry's in one process, in turns of a few calls.
//
//   bench_alltoall --sizes 64,1024 --strategies native,wherry,mesh --turns 20 --train 1000
// "wherry" is what Wherry does by itself, after --train calls to learn from. Run it under the preload. A case is a
// block size; "back to back" marks calls that follow each other without a pause (see exchange.hpp).
#include "exchange.hpp"

namespace {

void measure(int block, bench::Calls how, const std::vector<std::string>& variants, int turns, int train) {
  bench::Exchange exchange(MPI_COMM_WORLD, block);
  bench::force("wherry");
  for (int i = 0; i < train; ++i) bench::time_calls(MPI_COMM_WORLD, 1, exchange);
  const auto samples = bench::compare(MPI_COMM_WORLD, exchange, variants, turns, how);
  if (bench::rank_of(MPI_COMM_WORLD) != 0) return;
  const std::string name =
      bench::case_name(block) + (how == bench::Calls::back_to_back ? ", back to back" : "");
  for (std::size_t i = 0; i < variants.size(); ++i) bench::print(name, variants[i], samples[i]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "64,1024,16384"));
  const auto variants = bench::words(bench::option(argc, argv, "--strategies", "native,wherry"));
  const int turns = bench::number(argc, argv, "--turns", 20);
  const int train = bench::number(argc, argv, "--train", 1000);
  for (const bench::Calls how : {bench::Calls::together, bench::Calls::back_to_back})
    for (const int block : sizes) measure(block, how, variants, turns, train);
  MPI_Finalize();
}
