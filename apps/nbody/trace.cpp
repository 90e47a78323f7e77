#include "nbody/trace.hpp"

#include <numeric>

#include "parallel/comm.hpp"
#include "parallel/simulated.hpp"

namespace nbody {
namespace {

/// Of every rank, on rank 0; elsewhere empty. Collective.
std::vector<Spans> gathered(const Spans& mine, MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(apps::size_of(comm));
  const int bytes = static_cast<int>(mine.size() * sizeof(Span));
  std::vector<int> counts(ranks), begins(ranks);
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  Spans all(static_cast<std::size_t>(begins.back() + counts.back()) / sizeof(Span));
  MPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, 0, comm);
  std::vector<Spans> by_rank;
  if (apps::rank_of(comm) != 0) return by_rank;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = all.begin() + begins[rank] / static_cast<int>(sizeof(Span));
    by_rank.emplace_back(begin, begin + counts[rank] / static_cast<int>(sizeof(Span)));
  }
  return by_rank;
}

}  // namespace

double common_zero_s(MPI_Comm comm) {
  MPI_Barrier(comm);
  const double now_s = MPI_Wtime();
  return apps::simulated ? apps::reduced(now_s, MPI_MIN, comm) : now_s;
}

std::string trace_of_all(const Spans& mine, double zero_s, const std::string& title, MPI_Comm comm) {
  Spans shifted = mine;
  for (Span& span : shifted) {
    span.begin_s -= zero_s;
    span.end_s -= zero_s;
  }
  const std::vector<Spans> all = gathered(shifted, comm);
  return all.empty() ? "" : chrome_trace(with_waits(all), title);
}

}  // namespace nbody
