// A Barnes-Hut computation by ranks that are all in this process: what Gravity does by messages.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "barnes_hut/domains.hpp"
#include "barnes_hut/motion.hpp"
#include "barnes_hut/walk.hpp"
#include "remote_ranks.hpp"

namespace barnes_hut_test {

using namespace barnes_hut;

inline Cube cube_of(const std::vector<Body>& bodies) {
  const Box box = box_of(bodies);
  return cube_around(box.low, box.high);
}

/// Puts particles in the order of their keys and returns these.
inline std::vector<Key> sort_by_key(std::vector<Particle>& particles, const Cube& cube) {
  std::ranges::sort(particles, {}, [&](const Particle& p) { return std::tuple(key_of(p.body, cube), p.id); });
  std::vector<Key> keys;
  for (const Particle& p : particles) keys.push_back(key_of(p.body, cube));
  return keys;
}

inline std::vector<Body> bodies_of(const std::vector<Particle>& particles) {
  std::vector<Body> bodies;
  for (const Particle& p : particles) bodies.push_back(p.body);
  return bodies;
}

/// The trees of all ranks.
struct World {
  Cube cube;
  std::vector<std::vector<Body>> bodies;
  std::vector<Tree> trees;
  std::vector<Cell> upper;
  Cell root;
};

/// `particles` are sorted; most: bodies of a domain.
inline World plant(const std::vector<Particle>& particles, const std::vector<Key>& keys, const Cube& cube,
                   int ranks, std::uint64_t most, const TreeOptions& options) {
  World world{.cube = cube, .bodies = {}, .trees = {}, .upper = {}, .root = {}};
  world.bodies.resize(static_cast<std::size_t>(ranks));
  world.trees.resize(static_cast<std::size_t>(ranks));
  const std::vector<Domain> domains = divide(most, ranks, [&](std::span<const Domain> asked) {
    std::vector<std::uint64_t> counts;
    for (const Domain& d : asked)
      counts.push_back(static_cast<std::uint64_t>(std::ranges::lower_bound(keys, d.end()) -
                                                  std::ranges::lower_bound(keys, d.first)));
    return counts;
  });
  const std::vector<Body> all = bodies_of(particles);
  std::vector<Branch> branches;
  std::vector<std::vector<Key>> keys_of(static_cast<std::size_t>(ranks));
  std::size_t next = 0;
  for (const Domain& d : domains) {
    const auto owner = static_cast<std::size_t>(d.owner);
    auto& mine = world.bodies[owner];
    const auto first = static_cast<std::int32_t>(mine.size());
    for (std::uint64_t i = 0; i < d.bodies; ++i, ++next) {
      mine.push_back(all[next]);
      keys_of[owner].push_back(keys[next]);
    }
    branches.push_back({d.first, grow(world.trees[owner], mine, keys_of[owner], first,
                                      static_cast<std::int32_t>(d.bodies), d.owner, cube, options)});
  }
  world.root = join(world.upper, branches, cube);
  return world;
}

/// Sets accelerations and potentials, on so many ranks; particles end up in the order of their keys. Returns the gets
/// of all.
inline remote::Statistics compute(std::vector<Particle>& particles, int ranks, const WalkOptions& walking,
                                  double softening, const TreeOptions& options,
                                  const Kernel& kernel = best_kernel()) {
  const Cube cube = cube_of(bodies_of(particles));
  const std::vector<Key> keys = sort_by_key(particles, cube);
  const World world = plant(particles, keys, cube, ranks, static_cast<std::uint64_t>(options.group), options);
  std::vector<std::vector<Cell>> cells;
  for (const Tree& tree : world.trees) cells.push_back(tree.cells);
  remote::Statistics statistics;
  auto next = particles.begin();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const auto cell_reader = remote_test::reader(remote_test::memories(cells));
    const auto body_reader = remote_test::reader(remote_test::memories(world.bodies));
    const Forest forest{world.root, world.upper, world.trees[at].cells, world.bodies[at], rank};
    Walk walk(forest, {*cell_reader, *body_reader}, walking);
    TargetList targets;
    for (const Group& group : world.trees[at].groups) {
      const auto bodies =
          forest.bodies.subspan(static_cast<std::size_t>(group.first), static_cast<std::size_t>(group.count));
      targets.set(bodies);
      targets.add(kernel, walk.sources_for(box_of(bodies)), softening);
      for (std::size_t i = 0; i < bodies.size(); ++i, ++next)
        std::tie(next->ax, next->ay, next->az, next->potential) =
            std::tuple(targets[i].ax, targets[i].ay, targets[i].az, targets[i].potential);
    }
    statistics = statistics + cell_reader->statistics() + body_reader->statistics();
  }
  return statistics;
}

/// The root of the mean square of the relative errors of all accelerations.
inline double error_of(const std::vector<Particle>& particles, double softening) {
  const std::vector<Body> bodies = bodies_of(particles);
  double squares = 0;
  for (const Particle& p : particles) squares += squared_error(p, direct_sum(p, bodies, softening));
  return std::sqrt(squares / static_cast<double>(particles.size()));
}

}  // namespace barnes_hut_test
