#include "barnes_hut/gravity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "remote/exchange.hpp"
#include "support/mpi/comm.hpp"

namespace barnes_hut {
namespace {

constexpr std::uint64_t domains_per_rank = 16;  // how evenly bodies can be dealt out

/// How many elements have keys in the domain; they are in the order of their keys.
template <class Element>
std::ptrdiff_t count_in(const std::vector<Element>& elements, const Domain& domain) {
  const auto begin = std::ranges::lower_bound(elements, domain.first, {}, &Element::key);
  return std::ranges::lower_bound(begin, elements.end(), domain.end(), {}, &Element::key) - begin;
}

template <class Element>
void sort_by_key(std::vector<Element>& elements) {
  std::ranges::sort(elements, {}, [](const Element& e) { return std::tuple(e.key, e.particle.id); });
}

}  // namespace

Gravity::Gravity(MPI_Comm comm, const GravityOptions& options, const remote::Variant& variant,
                 const remote::CacheOptions& cache)
    : comm_(comm),
      rank_(apps::rank_of(comm)),
      ranks_(apps::size_of(comm)),
      options_(options),
      cells_(comm, variant, cache),
      bodies_(comm, variant, cache) {}

void Gravity::compute(std::vector<Particle>& mine, apps::Timings& timings) {
  const Cube cube = cube_of(mine);
  const std::vector<Placed> here = placed(mine, cube);
  const std::vector<Domain> domains = domains_of(here);
  const std::vector<Placed> settled_here = settled(here, domains);
  mine.clear();
  std::vector<Body> bodies;
  for (const Placed& p : settled_here) {
    mine.push_back(p.particle);
    bodies.push_back(p.particle.body);
  }
  Tree tree;
  std::vector<Cell> upper;
  const Cell root = join(upper, plant(tree, settled_here, bodies, domains, cube), cube);
  cells_.publish(tree.cells);
  bodies_.publish(bodies);
  const Forest forest{.root = root, .upper = upper, .mine = tree.cells, .bodies = bodies, .rank = rank_};
  timings.time([&] { pull(mine, tree, forest); });
}

Cube Gravity::cube_of(const std::vector<Particle>& mine) const {
  // Both corners by one reduction: the least of x and of -x.
  std::array<double, 6> corners;
  corners.fill(std::numeric_limits<double>::infinity());
  for (const Particle& p : mine) {
    const std::array<double, 6> here = {p.body.x, p.body.y, p.body.z, -p.body.x, -p.body.y, -p.body.z};
    std::ranges::transform(corners, here, corners.begin(), [](double a, double b) { return std::min(a, b); });
  }
  MPI_Allreduce(MPI_IN_PLACE, corners.data(), static_cast<int>(corners.size()), MPI_DOUBLE, MPI_MIN, comm_);
  return cube_around({corners[0], corners[1], corners[2]}, {-corners[3], -corners[4], -corners[5]});
}

std::vector<Gravity::Placed> Gravity::placed(const std::vector<Particle>& mine, const Cube& cube) const {
  std::vector<Placed> all;
  all.reserve(mine.size());
  for (const Particle& p : mine) all.push_back({key_of(p.body, cube), p});
  sort_by_key(all);
  return all;
}

std::vector<Domain> Gravity::domains_of(const std::vector<Placed>& mine) const {
  const std::uint64_t all = apps::reduced(std::uint64_t{mine.size()}, MPI_SUM, comm_);
  const auto least = static_cast<std::uint64_t>(std::max(options_.tree.leaf, options_.tree.group));
  const std::uint64_t even = all / (domains_per_rank * static_cast<std::uint64_t>(ranks_));
  return divide(std::max(least, even), ranks_, [&](std::span<const Domain> domains) {
    std::vector<std::uint64_t> counts;
    for (const Domain& domain : domains) counts.push_back(static_cast<std::uint64_t>(count_in(mine, domain)));
    return apps::reduced(counts, MPI_SUM, comm_);
  });
}

/// Domains and their owners are in the order of keys, and so are the particles: they are sorted by where they go.
std::vector<Gravity::Placed> Gravity::settled(const std::vector<Placed>& mine,
                                              const std::vector<Domain>& domains) const {
  std::vector<int> counts(static_cast<std::size_t>(ranks_));
  for (const Domain& domain : domains)
    counts[static_cast<std::size_t>(domain.owner)] += static_cast<int>(count_in(mine, domain));
  std::vector<Placed> arrived = remote::exchanged(mine, counts, comm_);
  sort_by_key(arrived);
  return arrived;
}

/// This rank's trees; returns the roots of all ranks'.
std::vector<Branch> Gravity::plant(Tree& tree, const std::vector<Placed>& mine,
                                   const std::vector<Body>& bodies, const std::vector<Domain>& domains,
                                   const Cube& cube) const {
  std::vector<Key> keys;
  for (const Placed& p : mine) keys.push_back(p.key);
  std::vector<Branch> branches;
  std::int32_t first = 0;
  for (const Domain& domain : domains) {
    if (domain.owner != rank_) continue;
    const auto count = static_cast<std::int32_t>(domain.bodies);
    branches.push_back({domain.first, grow(tree, bodies, keys, first, count, rank_, cube, options_.tree)});
    first += count;
  }
  return remote::gathered(branches, comm_);
}

void Gravity::pull(std::vector<Particle>& mine, const Tree& tree, const Forest& forest) {
  Walk walk(forest, {cells_.reader(), bodies_.reader()}, options_.walk);
  TargetList targets;
  for (const Group& group : tree.groups) {
    const auto first = static_cast<std::size_t>(group.first), count = static_cast<std::size_t>(group.count);
    const std::span<const Body> bodies = forest.bodies.subspan(first, count);
    targets.set(bodies);
    targets.add(best_kernel(), walk.sources_for(box_of(bodies)), options_.softening);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [ax, ay, az, potential] = targets[i];
      Particle& p = mine[first + i];
      p.ax = ax;
      p.ay = ay;
      p.az = az;
      p.potential = potential;
    }
  }
}

}  // namespace barnes_hut
