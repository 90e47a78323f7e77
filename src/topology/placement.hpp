// Who sits where: the ranks of a communicator and the node that each runs on.
#pragma once

#include <span>
#include <vector>

namespace wherry::topology {

/// The ranks 0..size-1 of a communicator and their placement on nodes.
///
/// Nodes are numbered 0..nodes()-1 in the order in which their first rank appears, so equal
/// placements compare equal whatever the hosts are called. Nodes may hold different numbers
/// of ranks, and the ranks of a node need not be consecutive.
class Placement {
 public:
  /// Every rank on a node of its own. size >= 1.
  static Placement flat(int size);
  /// Ranks in consecutive groups of `ranks_per_node`; the last node may hold fewer.
  static Placement blocked(int size, int ranks_per_node);
  /// `nodes` nodes that hold consecutive ranks, as even as possible (larger nodes first).
  static Placement spread(int size, int nodes);
  /// node_of[r] is any label of the node of rank r. Throws usage_error if empty.
  static Placement placed(std::span<const int> node_of);

  int size() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(members_.size()); }
  int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  /// The ranks of a node in ascending order; the first one is its leader.
  std::span<const int> members(int node) const { return members_[static_cast<std::size_t>(node)]; }
  /// Position of a rank among the members of its node.
  int local_rank(int rank) const { return local_rank_[static_cast<std::size_t>(rank)]; }
  /// Ranks of the node that holds most.
  int largest_node() const { return largest_node_; }
  bool same_node(int a, int b) const { return node_of(a) == node_of(b); }
  /// A number that is equal for equal placements, for keys in tuning files.
  unsigned long long signature() const;

  friend bool operator==(const Placement& a, const Placement& b) { return a.node_of_ == b.node_of_; }

 private:
  explicit Placement(std::vector<int> node_of);

  std::vector<int> node_of_;
  std::vector<int> local_rank_;
  std::vector<std::vector<int>> members_;
  int largest_node_ = 0;
};

}  // namespace wherry::topology
