// Ranks that perform a part of a collective together.
#pragma once

#include <span>
#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/segment_builder.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule::segments {

/// Members 0..size()-1 and their ranks. Families of strategies know members only, so that they serve for all ranks,
/// for the ranks of a node and for the leaders of nodes.
class Group {
 public:
  static constexpr int nobody = -1;

  /// All ranks, in their order.
  static Group everyone(const SegmentBuilder& b) { return {b.size(), b.rank(), {}}; }
  /// Those ranks; me: the builder's member, or nobody. The ranks must outlive the group.
  static Group of(std::span<const int> ranks, int me) { return {static_cast<int>(ranks.size()), me, ranks}; }

  int size() const { return size_; }
  int me() const { return me_; }
  bool takes_part() const { return me_ != nobody; }
  int rank(int member) const { return ranks_.empty() ? member : ranks_[static_cast<std::size_t>(member)]; }

 private:
  Group(int size, int me, std::span<const int> ranks) : size_(size), me_(me), ranks_(ranks) {}

  int size_;
  int me_;
  std::span<const int> ranks_;
};

/// How to combine what comes from another member so that members stay in their order.
inline Action combine_from(int member, int me) {
  return member < me ? Action::combine_before : Action::combine_after;
}

// The two levels of node-aware strategies: the ranks of my node, and one leader per node.

/// The leader of a node is its first rank, but the root leads its own: what it has need not move within the node.
class NodeGroups {
 public:
  NodeGroups(const topology::Placement& placement, int rank, int root)
      : members_(placement.members(placement.node_of(rank))) {
    const int node = placement.node_of(rank);
    root_node_ = placement.node_of(root);
    for (int n = 0; n < placement.nodes(); ++n)
      leaders_.push_back(n == root_node_ ? root : placement.members(n).front());
    local_ = placement.local_rank(rank);
    const int leader = leaders_[static_cast<std::size_t>(node)];
    local_leader_ = placement.local_rank(leader);
    leading_ = leader == rank ? node : Group::nobody;
    local_steps_ = ceil_log2(placement.largest_node());
  }

  std::span<const int> members() const { return members_; }
  Group node() const { return Group::of(members_, local_); }
  /// Which member of the node leads it.
  int leader() const { return local_leader_; }
  Group leaders() const { return Group::of(leaders_, leading_); }
  /// Which of the leaders is the root.
  int root() const { return root_node_; }
  /// Steps of a binomial tree in the node that holds most.
  int local_steps() const { return local_steps_; }

 private:
  std::span<const int> members_;
  std::vector<int> leaders_;
  int local_ = 0;
  int local_leader_ = 0;
  int leading_ = Group::nobody;
  int root_node_ = 0;
  int local_steps_ = 0;
};

}  // namespace wherry::schedule::segments
