#include "schedule/graph/graph.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "base/error.hpp"

namespace wherry::schedule {

namespace {

/// The targets of a rank that take a message: each once, ascending.
std::vector<int> others(const std::vector<int>& targets, int rank, int size) {
  std::vector<int> all = targets;
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  std::erase(all, rank);
  if (!all.empty() && (all.front() < 0 || all.back() >= size))
    throw usage_error("rank " + std::to_string(rank) + " has neighbor " +
                      std::to_string(all.front() < 0 ? all.front() : all.back()) +
                      ", but there are ranks 0 to " + std::to_string(size - 1) + " only; name one of them");
  return all;
}

int most_entering(std::span<const Block> edges, int size) {
  std::vector<int> entering(static_cast<std::size_t>(size), 0);
  for (const Block& edge : edges) ++entering[static_cast<std::size_t>(edge.destination)];
  return entering.empty() ? 0 : std::ranges::max(entering);
}

/// Joins the sets of both ends of every edge; paths are halved on the way.
bool hang_together(std::span<const Block> edges, int size) {
  std::vector<int> above(static_cast<std::size_t>(size));
  std::iota(above.begin(), above.end(), 0);
  const auto up = [&](int rank) -> int& { return above[static_cast<std::size_t>(rank)]; };
  const auto root = [&](int rank) {
    while (up(rank) != rank) rank = up(rank) = up(up(rank));
    return rank;
  };
  int sets = size;
  for (const Block& edge : edges) {
    const int a = root(edge.origin), b = root(edge.destination);
    if (a == b) continue;
    up(a) = b;
    --sets;
  }
  return sets <= 1;
}

}  // namespace

Graph::Graph(std::span<const std::vector<int>> targets) {
  const int size = static_cast<int>(targets.size());
  begins_.push_back(0);
  for (int rank = 0; rank < size; ++rank) {
    for (const int to : others(targets[static_cast<std::size_t>(rank)], rank, size))
      edges_.push_back({rank, to});
    begins_.push_back(static_cast<int>(edges_.size()));
    most_neighbors_ = std::max(most_neighbors_, begins_.back() - *(begins_.end() - 2));
  }
  most_neighbors_ = std::max(most_neighbors_, most_entering(edges_, size));
  connected_ = hang_together(edges_, size);
}

bool Graph::has(Block edge) const {
  const auto origin = static_cast<std::size_t>(edge.origin);
  const auto first = edges_.begin() + begins_[origin], last = edges_.begin() + begins_[origin + 1];
  const auto found = std::ranges::lower_bound(first, last, edge.destination, {}, &Block::destination);
  return found != last && *found == edge;
}

// FNV-1a, as for placements: stable across builds and machines.
unsigned long long Graph::signature() const {
  unsigned long long hash = 14695981039346656037ULL;
  const auto add = [&hash](int number) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash ^= static_cast<unsigned>(number) >> shift & 0xffU;
      hash *= 1099511628211ULL;
    }
  };
  add(size());
  for (const Block& edge : edges_) add(edge.origin), add(edge.destination);
  return hash;
}

std::vector<Peer> peers_of(std::span<const int> neighbors, std::span<const int> order) {
  std::map<int, std::vector<int>> numbers;
  for (std::size_t i = 0; i < neighbors.size(); ++i)
    if (neighbors[i] != nobody) numbers[neighbors[i]].push_back(static_cast<int>(i));
  std::vector<Peer> peers;
  for (auto& [rank, own] : numbers) {
    std::ranges::stable_sort(own, {}, [&](int number) { return order[static_cast<std::size_t>(number)]; });
    peers.push_back({rank, std::move(own)});
  }
  return peers;
}

std::vector<int> plain_order(std::size_t neighbors) {
  std::vector<int> order(neighbors);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool has_repeated(std::span<const int> neighbors) {
  const std::vector<Peer> peers = peers_of(neighbors, plain_order(neighbors.size()));
  return std::ranges::any_of(peers, [](const Peer& peer) { return peer.numbers.size() > 1; });
}

}  // namespace wherry::schedule
