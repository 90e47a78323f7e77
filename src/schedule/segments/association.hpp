// What a segment holds, symbolically: one rank's data, or how it was reduced from the data of several.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace wherry::schedule {

/// Association trees over ranks. Equal trees have equal numbers, so "the same bits" is an integer comparison: trees
/// are equal if and only if the same operands were combined in the same order and grouping.
class Associations {
 public:
  using Tree = int;
  static constexpr Tree nothing = -1;

  explicit Associations(int ranks);

  /// The data of one rank.
  Tree data_of(int rank) const { return rank; }
  /// left op right.
  Tree combined(Tree left, Tree right);
  /// A rank whose data is in both, or -1.
  int common_rank(Tree left, Tree right) const;
  /// The data of every rank is in it, once.
  bool is_complete(Tree term) const { return at(term).leaves == ranks_; }
  /// The data of consecutive ranks is in it, in ascending order.
  bool is_in_order(Tree term) const { return at(term).in_order; }
  /// Ranks whose data is in it.
  int leaves(Tree term) const { return at(term).leaves; }

 private:
  struct Node {
    int first;  // rank of the first leaf
    int last;
    int leaves;
    bool in_order;
  };

  const Node& at(Tree term) const { return nodes_[static_cast<std::size_t>(term)]; }
  const std::uint64_t* members(Tree term) const {
    return bits_.data() + static_cast<std::size_t>(term) * words_;
  }

  int ranks_;
  std::size_t words_;  // of a set of ranks
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> bits_;                  // by term, the set of its ranks
  std::unordered_map<std::uint64_t, Tree> numbers_;  // by left and right
};

}  // namespace wherry::schedule
