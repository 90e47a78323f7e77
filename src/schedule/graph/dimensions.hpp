// Dimensions: message combining along the dimensions of a grid.
//
// Stencils reach their diagonal neighbors through the straight ones: 27 points take 6 messages instead of 26, and a
// block moves once for each coordinate in which it differs. After Traeff, Luebbe, Rougier and Hunold, "Isomorphic,
// Sparse MPI-like Collective Communication Operations for Parallel Stencil Computations", EuroMPI 2015. A graph does
// not say on which grid it lives, so the grid is found: the one with the fewest messages of all that the ranks fill, in
// the order of MPI_Cart_create.
#pragma once

#include "schedule/blocks/families/digits.hpp"
#include "schedule/graph/neighborhood_strategy.hpp"

namespace wherry::schedule {

/// A grid that all ranks fill, as the places of a rank's digits, the last dimension first.
struct FittedGrid {
  Places places;
  int messages = 0;  // at most so many that a rank sends on it
};

/// The grid of at most three dimensions with the fewest messages; 0 digits if none has fewer than `limit`.
FittedGrid fitted_grid(const Graph& graph, int limit);

/// Where it saves a third of the messages at least.
RouteOfEdge along_dimensions(const Graph& graph, const topology::Placement& placement);

}  // namespace wherry::schedule
