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

/// Makes room for so many more and returns it.
template <class Element>
std::span<Element> extended(std::vector<Element>& all, std::size_t count) {
  all.resize(all.size() + count);
  return std::span(all).last(count);
}

/// Reads what each of these cells has, one after the other, into room for all of it.
template <class Element>
void get_each(remote::Reader& reader, std::span<const Cell> cells, std::int32_t Cell::* count,
              std::span<Element> into) {
  for (const Cell& cell : cells) {
    const auto elements = static_cast<std::size_t>(cell.*count);
    remote::get(reader, into.first(elements), cell.owner, static_cast<std::size_t>(cell.first));
    into = into.subspan(elements);
  }
}

std::size_t sum(std::span<const Cell> cells, std::int32_t Cell::* count) {
  std::size_t all = 0;
  for (const Cell& cell : cells) all += static_cast<std::size_t>(cell.*count);
  return all;
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
  visit(forest_.root);
  while (!asked_.empty() || !asked_leaves_.empty()) fetch();
  return sources_;
}

bool Walk::far(const Cell& cell) const {
  const Moments& m = cell.moments;
  const double dx = std::max({box_.low.x - m.x, 0.0, m.x - box_.high.x});
  const double dy = std::max({box_.low.y - m.y, 0.0, m.y - box_.high.y});
  const double dz = std::max({box_.low.z - m.z, 0.0, m.z - box_.high.z});
  const double reach = cell.edge + cell.offset * theta_;
  return (dx * dx + dy * dy + dz * dz) * theta_ * theta_ > reach * reach;
}

void Walk::visit(const Cell& top) {
  stack_.push_back(&top);
  while (!stack_.empty()) {
    const Cell& cell = *stack_.back();
    stack_.pop_back();
    if (far(cell)) sources_.cells.push_back(cell.moments);
    else if (cell.children == 0) open_leaf(cell);
    else open(cell);
  }
}

void Walk::open(const Cell& cell) {
  if (cell.owner != on_every_rank && cell.owner != forest_.rank) {
    asked_.push_back(cell);
    return;
  }
  const std::span<const Cell> cells = cell.owner == on_every_rank ? forest_.upper : forest_.mine;
  for (const Cell& child : part(cells, cell.first, cell.children)) stack_.push_back(&child);
}

void Walk::open_leaf(const Cell& leaf) {
  if (leaf.owner == forest_.rank) append(sources_.bodies, part(forest_.bodies, leaf.first, leaf.bodies));
  else asked_leaves_.push_back(leaf);
}

void Walk::fetch() {
  fetched_.resize(sum(asked_, &Cell::children));
  get_each(readers_.cells, asked_, &Cell::children, std::span(fetched_));
  get_each(readers_.bodies, asked_leaves_, &Cell::bodies,
           extended(sources_.bodies, sum(asked_leaves_, &Cell::bodies)));
  if (!asked_.empty()) readers_.cells.flush();
  if (!asked_leaves_.empty()) readers_.bodies.flush();
  asked_.clear();
  asked_leaves_.clear();
  for (const Cell& cell : fetched_) visit(cell);
}

}  // namespace barnes_hut
