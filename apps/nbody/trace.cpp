#include "nbody/trace.hpp"

#include "support/mpi/comm.hpp"
#include "support/mpi/elements.hpp"
#include "support/mpi/simulated.hpp"

namespace nbody {
namespace {

/// Of every rank, on rank 0; elsewhere empty. Collective.
std::vector<Spans> gathered(const Spans& mine, MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(apps::size_of(comm));
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(ranks);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  const std::vector<int> begins = apps::begins(counts);
  Spans all(static_cast<std::size_t>(begins.back()));
  const apps::ElementType<Span> type;
  MPI_Gatherv(mine.data(), count, type, all.data(), counts.data(), begins.data(), type, 0, comm);
  std::vector<Spans> by_rank;
  if (apps::rank_of(comm) != 0) return by_rank;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    by_rank.emplace_back(all.begin() + begins[rank], all.begin() + begins[rank + 1]);
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
