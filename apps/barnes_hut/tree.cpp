#include "barnes_hut/tree.hpp"

#include <algorithm>
#include <array>

namespace barnes_hut {
namespace {

/// At most eight cells, one after the other.
class Children {
 public:
  void add(const Cell& cell) { cells_[count_++] = cell; }
  std::span<const Cell> all() const { return std::span(cells_).first(count_); }

 private:
  std::array<Cell, 8> cells_;
  std::size_t count_ = 0;
};

/// A cell with children; it moves them to `cells`.
Cell parent_of(const Children& children, Key key, int level, const Cube& cube, std::vector<Cell>& cells) {
  Cell cell = cell_of(children.all(), key, level, cube);
  cell.first_child = static_cast<std::int32_t>(cells.size());
  cell.children = static_cast<std::int32_t>(children.all().size());
  for (const Cell& child : children.all()) cell.bodies += child.bodies;
  cells.insert(cells.end(), children.all().begin(), children.all().end());
  return cell;
}

/// Calls back for each run of parts in one octant of a level.
template <class Part, class KeyOf, class Call>
void for_each_octant(std::span<const Part> parts, int level, KeyOf key_of, Call call) {
  for (auto begin = parts.begin(); begin != parts.end();) {
    const unsigned here = octant(key_of(*begin), level);
    const auto end = std::partition_point(
        begin, parts.end(), [&](const Part& part) { return octant(key_of(part), level) == here; });
    call(begin - parts.begin(), end - begin);
    begin = end;
  }
}

/// What stays the same while a tree grows.
class Grower {
 public:
  Grower(Tree& tree, std::span<const Body> bodies, std::span<const Key> keys, std::int32_t owner,
         const Cube& cube, const TreeOptions& options)
      : tree_(tree), bodies_(bodies), keys_(keys), owner_(owner), cube_(cube), options_(options) {}

  Cell grow(std::int32_t first, std::int32_t count, bool in_group) {
    const int level = common_level(keys_[at(first)], keys_[at(first + count - 1)]);
    const bool is_leaf = count <= options_.leaf || level == most_levels;
    if (!in_group && (is_leaf || count <= options_.group)) {
      tree_.groups.push_back({first, count});
      in_group = true;
    }
    return is_leaf ? leaf(first, count, level) : branching(first, count, level, in_group);
  }

 private:
  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

  Cell leaf(std::int32_t first, std::int32_t count, int level) const {
    Cell cell = cell_of(bodies_.subspan(at(first), at(count)), keys_[at(first)], level, cube_);
    cell.owner = owner_;
    cell.first_body = first;
    cell.bodies = count;
    return cell;
  }

  Cell branching(std::int32_t first, std::int32_t count, int level, bool in_group) {
    const auto before = static_cast<std::int32_t>(tree_.cells.size());
    Children children;
    for_each_octant(
        keys_.subspan(at(first), at(count)), level, [](Key key) { return key; },
        [&](std::ptrdiff_t begin, std::ptrdiff_t bodies) {
          children.add(
              grow(first + static_cast<std::int32_t>(begin), static_cast<std::int32_t>(bodies), in_group));
        });
    Cell cell = parent_of(children, keys_[at(first)], level, cube_, tree_.cells);
    cell.owner = owner_;
    cell.below = static_cast<std::int32_t>(tree_.cells.size()) - before;
    cell.first_body = first;
    return cell;
  }

  Tree& tree_;
  std::span<const Body> bodies_;
  std::span<const Key> keys_;
  std::int32_t owner_;
  const Cube& cube_;
  const TreeOptions& options_;
};

}  // namespace

Cell grow(Tree& tree, std::span<const Body> bodies, std::span<const Key> keys, std::int32_t first,
          std::int32_t count, std::int32_t owner, const Cube& cube, const TreeOptions& options) {
  return Grower(tree, bodies, keys, owner, cube, options).grow(first, count, false);
}

Cell join(std::vector<Cell>& cells, std::span<const Branch> branches, const Cube& cube) {
  if (branches.size() == 1) return branches.front().cell;
  const int level = common_level(branches.front().key, branches.back().key);
  Children children;
  for_each_octant(
      branches, level, [](const Branch& branch) { return branch.key; },
      [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
        children.add(join(
            cells, branches.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), cube));
      });
  return parent_of(children, branches.front().key, level, cube, cells);
}

}  // namespace barnes_hut
