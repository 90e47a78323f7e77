// Undirected simple graphs, and the part of one that a rank has.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lcc {

using Vertex = std::uint32_t;
constexpr std::uint64_t most_vertices = std::uint64_t{1} << 31;

struct Edge {
  Vertex from, to;
  bool operator==(const Edge&) const = default;
  auto operator<=>(const Edge&) const = default;
};

/// What a file or a generator says: any order, loops, and the same edge several times and both ways are allowed.
struct EdgeList {
  Vertex vertices = 0;
  std::vector<Edge> edges;
};

/// Which rank has which vertices: as many as the others, in the order of the ranks.
struct Partition {
  Vertex vertices = 0;
  int ranks = 1;

  Vertex first(int rank) const {
    return static_cast<Vertex>(std::uint64_t{vertices} * static_cast<std::uint64_t>(rank) /
                               static_cast<std::uint64_t>(ranks));
  }
  int owner(Vertex vertex) const {
    return static_cast<int>(((std::uint64_t{vertex} + 1) * static_cast<std::uint64_t>(ranks) - 1) / vertices);
  }
};

/// Adjacency lists of consecutive vertices in compressed rows: sorted, without loops, each neighbor once.
struct Part {
  Vertex first = 0;
  std::vector<std::uint64_t> offsets = {
      0};  // where the list of vertex first + i begins, and the end of the last
  std::vector<Vertex> neighbors;

  Vertex vertices() const { return static_cast<Vertex>(offsets.size() - 1); }
  std::span<const Vertex> list(Vertex local) const {
    return std::span(neighbors).subspan(offsets[local], offsets[local + 1] - offsets[local]);
  }
};

/// The lists of the vertices [first, first + count). `edges` has every edge both ways, and may have it more often.
Part part_of(std::vector<Edge> edges, Vertex first, Vertex count);

/// Every edge both ways, without loops.
std::vector<Edge> both_ways(std::span<const Edge> edges);

}  // namespace lcc
