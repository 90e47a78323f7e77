// A distributed radix sort: for each digit the ranks exchange their keys by an all-to-all.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "radix_sort/digits.hpp"
#include "support/mpi/collectives.hpp"
#include "support/mpi/timings.hpp"

namespace radix_sort {

/// What is timed in each pass.
struct PassTimings {
  explicit PassTimings(MPI_Comm comm) : counts(comm), keys(comm) {}
  apps::Timings counts, keys;
};

class Sorter {
 public:
  /// least_bits: of a digit. keys_per_rank: the same on all ranks.
  Sorter(MPI_Comm comm, int least_bits, std::size_t keys_per_rank);

  /// Sorts the keys of all ranks: rank 0 has the smallest afterwards. Collective.
  void sort(std::vector<Key>& keys, const apps::Collectives& with, PassTimings& timings);

  int passes() const { return static_cast<int>(digits_.size()); }

 private:
  void pass(Digit digit, std::vector<Key>& keys, const apps::Collectives& with, PassTimings& timings);
  std::vector<int> leaving_for(Digit digit, const std::vector<Key>& keys) const;

  MPI_Comm comm_;
  int ranks_;
  std::vector<Digit> digits_;
  std::vector<Key> sending_;
  std::vector<int> arriving_;
};

/// What is wrong with sorted keys, told on all ranks; empty if nothing. before: of all keys of all ranks. Collective.
std::string problem_of(const std::vector<Key>& sorted, const Contents& before, MPI_Comm comm);

/// Of all ranks' keys. Collective.
Contents all_contents(const std::vector<Key>& keys, MPI_Comm comm);

}  // namespace radix_sort
