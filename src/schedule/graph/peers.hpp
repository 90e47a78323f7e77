// The neighbors of one rank as its buffers know them: by number, perhaps repeated, perhaps the rank itself or nobody.
#pragma once

#include <span>
#include <vector>

namespace wherry::schedule {

/// Stands for MPI_PROC_NULL: the block of such a neighbor stays as it is.
inline constexpr int nobody = -1;

/// A rank, and the numbers of the neighbors that are this rank, in the order in which their blocks travel.
struct Peer {
  int rank;
  std::vector<int> numbers;
  friend bool operator==(const Peer&, const Peer&) = default;
};

/// The different ranks among the neighbors, ascending, without nobody.
///
/// order[i]: blocks of neighbors that are the same rank travel by this, ascending; it is i where data are sent. Where they are
/// received, it is the sender's number of the block, which the library's rule for repeated neighbors decides.
std::vector<Peer> peers_of(std::span<const int> neighbors, std::span<const int> order);

/// 0, 1, ...: the order of what is sent, and of what is received where the k-th block meets the k-th.
std::vector<int> plain_order(std::size_t neighbors);

/// Whether a rank appears twice.
bool has_repeated(std::span<const int> neighbors);

}  // namespace wherry::schedule
