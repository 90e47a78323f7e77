// Mesh: members exchange within their row, then rows within their column. About 2 sqrt(P) messages in two steps.
//
// The rows are as even as can be, larger ones first, so that only the last column can have holes: in the shorter rows.
// A hole has nobody to hand its row on within that column; the other members of its row take turns at it.
#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

/// `size` members in rows of `columns` or, the last ones, one fewer.
class EvenRows {
 public:
  explicit EvenRows(int size)
      : rows_(ceil_root(size, 2)), columns_(ceil_div(size, rows_)), longer_(size - rows_ * (columns_ - 1)) {}

  int rows() const { return rows_; }
  int length(int row) const { return row < longer_ ? columns_ : columns_ - 1; }
  int first(int row) const { return row * (columns_ - 1) + std::min(row, longer_); }
  int row_of(int member) const {
    const int in_longer = longer_ * columns_;
    return member < in_longer ? member / columns_ : longer_ + (member - in_longer) / (columns_ - 1);
  }
  /// The member of `row` that hands the row's parts to the member at `column` of row `to`.
  int giver(int row, int to, int column) const {
    return first(row) + (column < length(row) ? column : to % length(row));
  }

 private:
  int rows_;
  int columns_;
  int longer_;
};

/// Where a member is in the mesh.
struct MeshPlace {
  EvenRows mesh;
  int me;
  int row;
  int first;
  int length;
  int column;

  MeshPlace(int size, int member)
      : mesh(size),
        me(member),
        row(mesh.row_of(member)),
        first(mesh.first(row)),
        length(mesh.length(row)),
        column(member - first) {}

  /// Calls visit(member) for the others of my row, from the next one on.
  template <class Visit>
  void for_row(Visit&& visit) const {
    for (int k = 1; k < length; ++k) visit(first + wrap(column + k, length));
  }

  /// Calls visit(member) for those to whom I hand my row on: of my column, and of the one in which my row has a hole.
  template <class Visit>
  void for_receivers(Visit&& visit) const {
    for (int k = 1; k < mesh.rows(); ++k) {
      const int to = wrap(row + k, mesh.rows());
      for (const int at : {column, length})
        if (at < mesh.length(to) && mesh.giver(row, to, at) == me) visit(mesh.first(to) + at);
    }
  }

  /// The member from whom I have another row.
  int giver(int other_row) const { return mesh.giver(other_row, row, column); }
};

inline constexpr int mesh_steps = 2;

template <class Parts>
void mesh_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const MeshPlace place(group.size(), group.me());
  const EvenRows& mesh = place.mesh;
  place.for_row([&](int other) {
    b.send(0, group.rank(other), parts.of(place.me, 1));
    b.receive(0, group.rank(other), parts.of(other, 1));
  });
  place.for_receivers([&](int other) { b.send(1, group.rank(other), parts.of(place.first, place.length)); });
  for (int k = 1; k < mesh.rows(); ++k) {
    const int row = wrap(place.row - k, mesh.rows());
    b.receive(1, group.rank(place.giver(row)), parts.of(mesh.first(row), mesh.length(row)));
  }
}

/// Reduces all segments for everybody, in the order of members. Takes mesh_steps.
inline void mesh_reduce(SegmentBuilder& b, const Group& group) {
  if (!group.takes_part()) return;
  const Ranges all(0, b.segments());
  const MeshPlace place(group.size(), group.me());
  place.for_row([&](int other) { b.send(0, group.rank(other), all); });
  for_others_in_order(place.length, place.column, [&](int column, Action action) {
    b.receive(0, group.rank(place.first + column), all, action);
  });
  place.for_receivers([&](int other) { b.send(1, group.rank(other), all); });
  for_others_in_order(place.mesh.rows(), place.row, [&](int row, Action action) {
    b.receive(1, group.rank(place.giver(row)), all, action);
  });
}

}  // namespace wherry::schedule::segments
