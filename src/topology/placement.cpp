#include "topology/placement.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/error.hpp"

namespace wherry::topology {
namespace {

void require_ranks(int size) { require(size >= 1, "a communicator has at least one rank; give 1 or more"); }

/// Labels replaced by 0, 1, 2, ... in the order in which they first appear.
std::vector<int> in_order_of_appearance(std::span<const int> labels) {
  std::unordered_map<int, int> node;
  std::vector<int> node_of;
  node_of.reserve(labels.size());
  for (const int label : labels)
    node_of.push_back(node.try_emplace(label, static_cast<int>(node.size())).first->second);
  return node_of;
}

}  // namespace

Placement::Placement(std::vector<int> node_of) : node_of_(std::move(node_of)) {
  local_rank_.reserve(node_of_.size());
  for (std::size_t rank = 0; rank < node_of_.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of_[rank]);
    if (node == members_.size()) members_.emplace_back();
    local_rank_.push_back(static_cast<int>(members_[node].size()));
    members_[node].push_back(static_cast<int>(rank));
    largest_node_ = std::max(largest_node_, static_cast<int>(members_[node].size()));
  }
}

Placement Placement::flat(int size) { return blocked(size, 1); }

Placement Placement::blocked(int size, int ranks_per_node) {
  require_ranks(size);
  require(ranks_per_node >= 1, "a node holds at least one rank; give 1 or more ranks per node");
  std::vector<int> node_of(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) node_of[static_cast<std::size_t>(rank)] = rank / ranks_per_node;
  return Placement(std::move(node_of));
}

Placement Placement::spread(int size, int nodes) {
  require_ranks(size);
  require(nodes >= 1 && nodes <= size, std::to_string(nodes) + " nodes for " + std::to_string(size) +
                                           " ranks (every node holds a rank); give 1 to " +
                                           std::to_string(size));
  std::vector<int> node_of;
  node_of.reserve(static_cast<std::size_t>(size));
  for (int node = 0; node < nodes; ++node) {
    const int ranks = size / nodes + (node < size % nodes ? 1 : 0);
    node_of.insert(node_of.end(), static_cast<std::size_t>(ranks), node);
  }
  return Placement(std::move(node_of));
}

Placement Placement::placed(std::span<const int> node_of) {
  require(!node_of.empty(),
          "a placement names the node of each rank, and this one is empty; give at least one");
  return Placement(in_order_of_appearance(node_of));
}

// FNV-1a over the nodes' numbers: stable across builds and machines, as tuning files need.
unsigned long long Placement::signature() const {
  unsigned long long hash = 14695981039346656037ULL;
  for (const int node : node_of_) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash ^= static_cast<unsigned>(node) >> shift & 0xffU;
      hash *= 1099511628211ULL;
    }
  }
  return hash;
}

}  // namespace wherry::topology
