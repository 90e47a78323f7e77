// What the benchmark programs share: options, timing by the slowest rank, and what rank 0 prints.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "samples.hpp"
#include "support/mpi/comm.hpp"

namespace bench {

/// The word after `name` on the command line, or `fallback`.
inline std::string option(int argc, char** argv, std::string_view name, std::string_view fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (name == argv[i]) return argv[i + 1];
  return std::string(fallback);
}

inline int number(int argc, char** argv, std::string_view name, int fallback) {
  return std::atoi(option(argc, argv, name, std::to_string(fallback)).c_str());
}

/// "a,b,c" as a list; empty words are dropped.
inline std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

inline std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  for (const std::string& word : words(text)) found.push_back(std::atoi(word.c_str()));
  return found;
}

using apps::rank_of;
using apps::size_of;

/// A problem that each rank finds alike, such as an unknown option. Collective over MPI_COMM_WORLD: launchers lose what
/// a rank wrote just before another one aborted.
[[noreturn]] inline void refuse(const std::string& problem) {
  if (rank_of(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "%s\n", problem.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  std::exit(2);
}

/// A problem that this rank may find alone.
[[noreturn]] inline void end_with(const std::string& problem) {
  std::fprintf(stderr, "%s\n", problem.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Seconds per call of `calls` calls back to back, the slowest rank's. Collective over comm.
template <typename Call>
double time_calls(MPI_Comm comm, int calls, Call&& call) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  return apps::reduced((MPI_Wtime() - start) / calls, MPI_MAX, comm);
}

/// So many calls that a burst is long for the clock and short for the scheduler; the same on all ranks. Collective.
template <typename Call>
int calls_per_burst(MPI_Comm comm, Call&& call) {
  constexpr double burst_s = 2e-3;
  return std::clamp(static_cast<int>(burst_s / time_calls(comm, 3, call)), 1, 200);
}

}  // namespace bench
