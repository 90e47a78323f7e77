#include "lcc/lists.hpp"

#include <algorithm>

#include "lcc/coefficient.hpp"

namespace lcc {

void Lists::fetch(std::span<const Vertex> vertices) {
  find(vertices);
  if (remote_.empty()) return;
  read_offsets(vertices);
  read_neighbors();
}

void Lists::find(std::span<const Vertex> vertices) {
  lists_.assign(vertices.size(), {});
  remote_.clear();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const int owner = partition_.owner(vertices[i]);
    if (owner == rank_) lists_[i] = mine_.list(vertices[i] - mine_.first);
    else remote_.push_back({.index = i, .owner = owner, .begin_end = {}});
  }
}

void Lists::read_offsets(std::span<const Vertex> vertices) {
  for (Remote& list : remote_) {
    const Vertex local = vertices[list.index] - partition_.first(list.owner);
    remote::get(readers_.offsets, std::span<std::uint64_t>(list.begin_end), list.owner, local);
  }
  readers_.offsets.flush();
}

void Lists::read_neighbors() {
  std::uint64_t length = 0;
  for (const Remote& list : remote_) length += list.length();
  buffer_.resize(length);
  std::span<Vertex> free = buffer_;
  for (const Remote& list : remote_) {
    const std::span<Vertex> into = free.first(list.length());
    free = free.subspan(list.length());
    remote::get(readers_.neighbors, into, list.owner, list.begin_end[0], static_cast<double>(list.length()));
    lists_[list.index] = into;
  }
  readers_.neighbors.flush();
}

namespace {

std::uint64_t links_of(std::span<const Vertex> list, Lists& lists, std::size_t batch) {
  std::uint64_t found = 0;
  for (std::size_t first = 0; first < list.size(); first += batch) {
    const auto some = list.subspan(first, std::min(batch, list.size() - first));
    lists.fetch(some);
    for (std::size_t i = 0; i < some.size(); ++i) found += common(list, lists[i]);
  }
  return found;
}

}  // namespace

std::vector<std::uint64_t> links(const Part& mine, Lists& lists, std::size_t batch) {
  std::vector<std::uint64_t> all(mine.vertices());
  for (Vertex local = 0; local < mine.vertices(); ++local)
    if (const auto list = mine.list(local); list.size() > 1) all[local] = links_of(list, lists, batch);
  return all;
}

}  // namespace lcc
