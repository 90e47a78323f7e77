// Who sends to whom in a neighborhood collective, as all ranks know it.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace wherry::schedule {

/// The pairs of different ranks of which the first has data for the second, as blocks.
///
/// Each pair is there once: what several edges between the same two ranks carry travels as one block, and what a rank
/// has for itself needs no message. Edges are numbered in the order of origins, then of destinations.
class Graph {
 public:
  /// targets[r]: the ranks that r sends to, in any order, perhaps repeated, perhaps r itself. Throws usage_error if one
  /// does not exist.
  explicit Graph(std::span<const std::vector<int>> targets);

  int size() const { return static_cast<int>(begins_.size()) - 1; }
  std::span<const Block> edges() const { return edges_; }
  bool has(Block edge) const;
  /// Of all ranks, the most edges that leave one or that enter one.
  int most_neighbors() const { return most_neighbors_; }
  /// Whether all ranks hang together, whatever the direction of the edges.
  bool is_connected() const { return connected_; }
  /// A number that is equal for equal graphs, for keys in tuning files.
  unsigned long long signature() const;

  friend bool operator==(const Graph& a, const Graph& b) {
    return a.begins_ == b.begins_ && a.edges_ == b.edges_;
  }

 private:
  std::vector<Block> edges_;
  std::vector<int> begins_;  // of the edges of each origin, and their end
  int most_neighbors_ = 0;
  bool connected_ = false;
};

// The neighbors of one rank as its buffers know them: by number, perhaps repeated, perhaps the rank itself or nobody.

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
/// order[i]: blocks of neighbors that are the same rank travel by this, ascending; it is i where data are sent. Where
/// they are received, it is the sender's number of the block, which the library's rule for repeated neighbors decides.
std::vector<Peer> peers_of(std::span<const int> neighbors, std::span<const int> order);

/// 0, 1, ...: the order of what is sent, and of what is received where the k-th block meets the k-th.
std::vector<int> plain_order(std::size_t neighbors);

/// Whether a rank appears twice.
bool has_repeated(std::span<const int> neighbors);

}  // namespace wherry::schedule
