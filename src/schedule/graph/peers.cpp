#include "schedule/graph/peers.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace wherry::schedule {

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
