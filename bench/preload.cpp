// What does it cost a call to be intercepted? Times the call with the least work of its own: a send to nobody.
//
// The program is the same with and without the preload; wherry bench launches it in turns and compares.
#include "measure.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 60);
  constexpr int calls = 20000;  // a turn of about a millisecond: long for the clock, short for the scheduler
  const auto send = [] { MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); };
  bench::time_calls(MPI_COMM_WORLD, calls, send);
  std::vector<double> samples;
  for (int i = 0; i < turns; ++i) samples.push_back(bench::time_calls(MPI_COMM_WORLD, calls, send));
  if (bench::rank_of(MPI_COMM_WORLD) == 0) bench::print("MPI_Send to MPI_PROC_NULL", "plain", samples);
  MPI_Finalize();
}
