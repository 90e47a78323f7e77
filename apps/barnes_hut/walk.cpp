#include "barnes_hut/walk.hpp"

#include <algorithm>

namespace barnes_hut {
namespace {

template <class Element>
std::span<Element> part(std::span<Element> all, std::int32_t first, std::int32_t count) {
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

template <class Element>
void append(std::vector<Element>& all, std::span<const Element> more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Box box_of(std::span<const Body> bodies) {
  const Body& first = bodies.front();
  Box box{{first.x, first.y, first.z}, {first.x, first.y, first.z}};
  for (const Body& body : bodies) {
    box.low = {std::min(box.low.x, body.x), std::min(box.low.y, body.y), std::min(box.low.z, body.z)};
    box.high = {std::max(box.high.x, body.x), std::max(box.high.y, body.y), std::max(box.high.z, body.z)};
  }
  return box;
}

const Sources& Walk::sources_for(const Box& box) {
  box_ = box;
  sources_.bodies.clear();
  sources_.cells.clear();
  stack_.push_back(&forest_.root);
  descend({});
  while (!cells_.is_empty() || !bodies_.is_empty()) fetch();
  return sources_;
}

bool Walk::far(const Cell& cell) const {
  const Moments& m = cell.moments;
  const double dx = std::max({box_.low.x - m.x, 0.0, m.x - box_.high.x});
  const double dy = std::max({box_.low.y - m.y, 0.0, m.y - box_.high.y});
  const double dz = std::max({box_.low.z - m.z, 0.0, m.z - box_.high.z});
  const double theta = options_.theta, reach = cell.edge + cell.offset * theta;
  return (dx * dx + dy * dy + dz * dz) * theta * theta > reach * reach;
}

void Walk::descend(const Opened& above) {
  while (!stack_.empty()) {
    const Cell& cell = *stack_.back();
    stack_.pop_back();
    if (far(cell)) sources_.cells.push_back(cell.moments);
    else if (cell.children == 0) open_leaf(cell, above);
    else open(cell, above);
  }
}

/// All that is below a small cell, else the children, which are the last of it.
remote::Stretch Walk::read_for(const Cell& cell) const {
  const std::int32_t count = is_small(cell) ? cell.below : cell.children;
  return {cell.owner, cell.first_child + cell.children - count, count};
}

void Walk::open(const Cell& cell, const Opened& above) {
  const std::span<const Cell> children = children_of(cell, above);
  for (const Cell& child : children) stack_.push_back(&child);
  if (children.empty()) asked_.push_back({cell, cells_.ask(read_for(cell))});
}

/// None, if they have to be read.
std::span<const Cell> Walk::children_of(const Cell& cell, const Opened& above) const {
  if (cell.owner == on_every_rank) return part(forest_.upper, cell.first_child, cell.children);
  if (cell.owner == forest_.rank) return part(forest_.mine, cell.first_child, cell.children);
  const remote::Stretch here = read_for(above.cell);
  if (here.owner != cell.owner || !here.holds(cell.first_child, cell.children)) return {};
  return cells_.elements().subspan(above.place + static_cast<std::size_t>(cell.first_child - here.first),
                                   static_cast<std::size_t>(cell.children));
}

void Walk::open_leaf(const Cell& leaf, const Opened& above) {
  if (leaf.owner == forest_.rank)
    return append(sources_.bodies, part(forest_.bodies, leaf.first_body, leaf.bodies));
  const Cell& whole = above.cell.owner == leaf.owner && is_small(above.cell) ? above.cell : leaf;
  const std::size_t place = bodies_.ask({whole.owner, whole.first_body, whole.bodies});
  leaves_.push_back({place + static_cast<std::size_t>(leaf.first_body - whole.first_body),
                     static_cast<std::size_t>(leaf.bodies)});
}

void Walk::fetch() {
  const bool flush_cells = !cells_.is_empty(), flush_bodies = !bodies_.is_empty();
  cells_.start(readers_.cells);
  bodies_.start(readers_.bodies);
  if (flush_cells) readers_.cells.flush();
  if (flush_bodies) readers_.bodies.flush();
  for (const Leaf& leaf : leaves_)
    append(sources_.bodies, bodies_.elements().subspan(leaf.place, leaf.count));
  leaves_.clear();
  std::swap(asked_, read_);
  asked_.clear();
  for (const Opened& each : read_) {
    open(each.cell, each);
    descend(each);
  }
}

}  // namespace barnes_hut
