// What does it cost a call to be intercepted? Times the call with the least work of its own, a send to nobody, and with
// several ranks a short collective that the settings give back to the library.
//
// The program is the same with and without the preload; wherry bench launches it in turns and compares.
#include "measure.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 60);
  constexpr int calls = 20000;  // a turn of about a millisecond: long for the clock, short for the scheduler
  const auto time = [&](const char* name, const auto& call) {
    bench::time_calls(MPI_COMM_WORLD, calls, call);
    std::vector<double> samples;
    for (int i = 0; i < turns; ++i) samples.push_back(bench::time_calls(MPI_COMM_WORLD, calls, call));
    if (bench::rank_of(MPI_COMM_WORLD) == 0) bench::print(name, "plain", samples);
  };
  time("MPI_Send to MPI_PROC_NULL", [] { MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); });
  double mine = 1, sum = 0;
  if (bench::size_of(MPI_COMM_WORLD) > 1)
    time("MPI_Allreduce of 8 B, given back",
         [&] { MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  MPI_Finalize();
}
