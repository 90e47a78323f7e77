// The two levels of node-aware strategies: the ranks of my node, and one leader per node.
#pragma once

#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule::segments {

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
