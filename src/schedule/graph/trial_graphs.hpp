// Graphs to try strategies on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wherry::schedule {

/// targets[r]: the ranks that r sends to, in the order of its send buffer. May hold a rank twice, or r itself.
using Targets = std::vector<std::vector<int>>;

/// A grid of processes as MPI_Cart_create numbers them: the last dimension runs fastest.
struct Torus {
  std::vector<int> extents;
  bool periodic = true;

  int size() const;
  std::vector<int> coordinates(int rank) const;
  /// The rank so many steps away; nobody (schedule/graph/graph.hpp) beyond a border that is not periodic.
  int neighbor(int rank, const std::vector<int>& steps) const;
};

/// All neighbors up to `reach` steps away in every dimension, itself left out: 9 points in two dimensions, 27 in three.
Targets stencil(const Torus& torus, int reach = 1);

/// Random edges, repeated ones and ones to the rank itself among them; about `degree` leave a rank, of some more, of
/// some none. The same seed gives the same graph everywhere.
Targets random_targets(int size, int degree, std::uint64_t seed);

struct TrialGraph {
  std::string name;  // says how to make it again: "random, 4 edges per rank, seed 17"
  Targets targets;
};

/// For `size` ranks: none, a ring, everybody, one that all send to, stencils on the grids that fit, and random ones.
std::vector<TrialGraph> trial_graphs(int size, std::uint64_t seed);

}  // namespace wherry::schedule
