// What the benchmark programs share: options, timing by the slowest rank, and samples as JSON lines on rank 0.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

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

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

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
  double mine = (MPI_Wtime() - start) / calls, worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, comm);
  return worst;
}

/// One line that python/wherry/measure/harness.py reads. Names hold no characters that JSON must escape.
inline void print(const std::string& name, const std::string& variant, const std::vector<double>& samples) {
  std::printf("{\"case\": \"%s\", \"variant\": \"%s\", \"unit\": \"s\", \"samples\": [", name.c_str(),
              variant.c_str());
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : ", ", samples[i]);
  std::printf("]}\n");
}

/// A variant that could not be measured, and why.
inline void print_excluded(const std::string& name, const std::string& variant, std::string why) {
  std::ranges::replace_if(why, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; }, ' ');
  std::printf("{\"case\": \"%s\", \"variant\": \"%s\", \"excluded\": \"%s\"}\n", name.c_str(),
              variant.c_str(), why.c_str());
}

}  // namespace bench
