// Trees through which segments follow each other: the chain and the binary tree.
#pragma once

#include <bit>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

/// Pipelined chain: segments follow each other from member to member, all links busy at once. For s segments
/// P - 2 + s steps, each with one segment in and one out.
inline void chain_down(SegmentBuilder& b, const Group& group, int root) {
  const int size = group.size(), place = wrap(group.me() - root, size);
  const auto at = [&](int p) { return group.rank(wrap(root + p, size)); };
  for (int segment = 0; segment < b.segments(); ++segment) {
    if (place > 0) b.receive(place - 1 + segment, at(place - 1), {segment, 1});
    if (place + 1 < size) b.send(place + segment, at(place + 1), {segment, 1});
  }
}

// Pipelined binary tree: depth log2 P, and every member handles at most three messages per segment.
//
// The members below a member are those next to it on the left and on the right, so a reduction keeps their order.

/// Where a member is in the balanced search tree over 0, ..., size - 1. The root is size / 2.
struct TreePlace {
  static constexpr int nobody = -1;
  int level = 0;  // distance from the root
  int parent = nobody;
  int left = nobody;
  int right = nobody;

  static constexpr int middle(int begin, int end) { return begin < end ? begin + (end - begin) / 2 : nobody; }
  static constexpr TreePlace of(int member, int size) {
    TreePlace place;
    int begin = 0, end = size;
    for (int here = middle(begin, end); here != member; here = middle(begin, end)) {
      (member < here ? end : begin) = member < here ? here : here + 1;
      place.parent = here;
      ++place.level;
    }
    place.left = middle(begin, member);
    place.right = middle(member + 1, end);
    return place;
  }
  /// The level of the lowest member.
  static constexpr int deepest(int size) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
  }
};

/// The tree over a group, turned so that `root` is on top.
class BinaryTree {
 public:
  BinaryTree(const Group& group, int root)
      : group_(group),
        turn_(wrap(root - group.size() / 2, group.size())),
        place_(TreePlace::of(wrap(group.me() - turn_, group.size()), group.size())) {}

  /// The order of the group is kept if the tree is not turned.
  static int unturned_root(const Group& group) { return group.size() / 2; }

  int deepest() const { return TreePlace::deepest(group_.size()); }

  /// Segment s is combined at the root in step deepest() - 1 + s.
  void up(SegmentBuilder& b) const {
    const int wait = deepest() - place_.level;
    for (int s = 0; s < b.segments(); ++s) {
      if (exists(place_.left)) b.receive(wait - 1 + s, rank(place_.left), {s, 1}, Action::combine_before);
      if (exists(place_.right)) b.receive(wait - 1 + s, rank(place_.right), {s, 1}, Action::combine_after);
      if (exists(place_.parent)) b.send(wait + s, rank(place_.parent), {s, 1});
    }
  }

  /// Segment s leaves the root in step s.
  void down(SegmentBuilder& b) const {
    for (int s = 0; s < b.segments(); ++s) {
      if (exists(place_.parent)) b.receive(place_.level - 1 + s, rank(place_.parent), {s, 1});
      for (const int child : {place_.left, place_.right})
        if (exists(child)) b.send(place_.level + s, rank(child), {s, 1});
    }
  }

 private:
  static bool exists(int member) { return member != TreePlace::nobody; }
  int rank(int member) const { return group_.rank(wrap(member + turn_, group_.size())); }

  Group group_;
  int turn_;
  TreePlace place_;
};

}  // namespace wherry::schedule::segments
