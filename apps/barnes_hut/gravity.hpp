// Forces on bodies that lie on all ranks.
#pragma once

#include <mpi.h>

#include <vector>

#include "barnes_hut/domains.hpp"
#include "barnes_hut/published.hpp"
#include "barnes_hut/walk.hpp"
#include "support/mpi/timings.hpp"

namespace barnes_hut {

struct GravityOptions {
  WalkOptions walk;
  double softening = 0;
  TreeOptions tree;
};

class Gravity {
 public:
  Gravity(MPI_Comm comm, const GravityOptions& options, const remote::Variant& variant,
          const remote::CacheOptions& cache);

  /// Sets the particles' accelerations and potentials, after moving them to the ranks that have their parts of space.
  /// At least one rank has at least one. timings: of the walks and the sums, not of making the tree. Collective.
  void compute(std::vector<Particle>& mine, apps::Timings& timings);

  /// Of this rank's gets.
  remote::Statistics statistics() const { return cells_.statistics() + bodies_.statistics(); }

 private:
  /// A particle with the key of its place.
  struct Placed {
    Key key;
    Particle particle;
  };

  Cube cube_of(const std::vector<Particle>& mine) const;
  std::vector<Placed> placed(const std::vector<Particle>& mine, const Cube& cube) const;
  std::vector<Domain> domains_of(const std::vector<Placed>& mine) const;
  std::vector<Placed> settled(const std::vector<Placed>& mine, const std::vector<Domain>& domains) const;
  std::vector<Branch> plant(Tree& tree, const std::vector<Placed>& mine, const std::vector<Body>& bodies,
                            const std::vector<Domain>& domains, const Cube& cube) const;
  void pull(std::vector<Particle>& mine, const Tree& tree, const Forest& forest);

  MPI_Comm comm_;
  int rank_, ranks_;
  GravityOptions options_;
  Published<Cell> cells_;
  Published<Body> bodies_;
};

}  // namespace barnes_hut
