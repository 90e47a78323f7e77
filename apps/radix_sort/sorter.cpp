#include "radix_sort/sorter.hpp"

#include <algorithm>

#include "support/mpi/comm.hpp"

namespace radix_sort {
namespace {

/// The sum over lower ranks. MPI leaves rank 0 without one.
Counts sum_of_lower(const Counts& mine, MPI_Comm comm) {
  Counts lower(mine.size());
  MPI_Exscan(mine.data(), lower.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, comm);
  if (apps::rank_of(comm) == 0) std::ranges::fill(lower, 0);
  return lower;
}

/// Whether no key on a lower rank is larger than my first. Collective.
bool follows_lower(const std::vector<Key>& sorted, MPI_Comm comm) {
  const Key last = sorted.empty() ? 0 : sorted.back();
  Key largest_below = 0;
  MPI_Exscan(&last, &largest_below, 1, MPI_UINT64_T, MPI_MAX, comm);
  return apps::rank_of(comm) == 0 || sorted.empty() || largest_below <= sorted.front();
}

}  // namespace

Sorter::Sorter(MPI_Comm comm, int least_bits, std::size_t keys_per_rank)
    : comm_(comm),
      ranks_(apps::size_of(comm)),
      digits_(digits(least_bits)),
      sending_(keys_per_rank),
      arriving_(static_cast<std::size_t>(ranks_)) {}

void Sorter::sort(std::vector<Key>& keys, const apps::Collectives& with, PassTimings& timings) {
  for (const Digit digit : digits_) pass(digit, keys, with, timings);
}

void Sorter::pass(Digit digit, std::vector<Key>& keys, const apps::Collectives& with, PassTimings& timings) {
  const std::vector<int> leaving = leaving_for(digit, keys);
  sort_by(digit, keys, sending_);
  timings.counts.time(
      [&] { with.alltoall(leaving.data(), 1, MPI_INT, arriving_.data(), 1, MPI_INT, comm_); });
  timings.counts.note(with.strategy());
  const std::vector<int> out = begins(leaving), in = begins(arriving_);
  timings.keys.time([&] {
    with.alltoallv(sending_.data(), leaving.data(), out.data(), MPI_UINT64_T, keys.data(), arriving_.data(),
                   in.data(), MPI_UINT64_T, comm_);
  });
  timings.keys.note(with.strategy());
  // What came from each rank is in order, but not yet the whole.
  sort_by(digit, keys, sending_);
  keys.swap(sending_);
}

std::vector<int> Sorter::leaving_for(Digit digit, const std::vector<Key>& keys) const {
  const Counts mine = histogram(keys, digit);
  return leaving(mine, sum_of_lower(mine, comm_), apps::reduced(mine, MPI_SUM, comm_),
                 static_cast<std::int64_t>(keys.size()), ranks_);
}

Contents all_contents(const std::vector<Key>& keys, MPI_Comm comm) {
  const Contents mine = contents(keys);
  return {.count = apps::reduced(mine.count, MPI_SUM, comm),
          .checksum = apps::reduced(mine.checksum, MPI_SUM, comm)};
}

std::string problem_of(const std::vector<Key>& sorted, const Contents& before, MPI_Comm comm) {
  const bool in_order = follows_lower(sorted, comm) && std::ranges::is_sorted(sorted);
  if (!apps::on_all(in_order, comm)) return "the keys are not in order";
  const Contents after = all_contents(sorted, comm);
  if (after.count != before.count) return "there are more or fewer keys than before";
  return after == before ? "" : "the keys are not those that there were before";
}

}  // namespace radix_sort
