// How much faster is MPI_Alltoall under Wherry? The library's own and Wherry's in one process, in turns of a few calls.
//
//   bench_alltoall --sizes 64,1024 --strategies native,wherry,mesh --turns 20 --train 120
// "wherry" is what Wherry does by itself, after --train calls to learn from. Run it under the preload.
#include "exchange.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "64,1024,16384"));
  const auto variants = bench::words(bench::option(argc, argv, "--strategies", "native,wherry"));
  const int turns = bench::number(argc, argv, "--turns", 20),
            train = bench::number(argc, argv, "--train", 120);
  for (const int block : sizes) {
    bench::Exchange exchange(MPI_COMM_WORLD, block);
    bench::force("wherry");
    for (int i = 0; i < train; ++i) exchange();
    const auto samples = bench::compare(MPI_COMM_WORLD, exchange, variants, turns);
    if (bench::rank_of(MPI_COMM_WORLD) != 0) continue;
    for (std::size_t i = 0; i < variants.size(); ++i)
      bench::print(bench::case_name(block), variants[i], samples[i]);
  }
  MPI_Finalize();
}
