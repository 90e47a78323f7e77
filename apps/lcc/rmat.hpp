// Random graphs with hubs: R-MAT (Chakrabarti, Zhan, Faloutsos: R-MAT: A recursive model for graph mining, SDM 2004).
#pragma once

#include <cstdint>

#include "lcc/graph.hpp"

namespace lcc {

constexpr int most_scale = 30;

/// 2^scale vertices. The quarters' probabilities are those of Graph500; the vertices' numbers are scrambled, or low
/// ones would be the hubs.
struct Rmat {
  int scale = 12;
  int edge_factor = 16;  // edges drawn for each vertex; loops and repetitions among them
  std::uint64_t seed = 1;

  std::uint64_t vertices() const { return std::uint64_t{1} << scale; }
  std::uint64_t edges() const { return vertices() * static_cast<std::uint64_t>(edge_factor); }
};

/// The edges `first`, `first` + 1, ...: the same however many ranks draw them.
std::vector<Edge> draw(const Rmat& graph, std::uint64_t first, std::uint64_t count);

}  // namespace lcc
