#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "barnes_hut_ranks.hpp"
#include "support/lines.hpp"

using namespace barnes_hut;
using namespace barnes_hut_test;

namespace {

constexpr TreeOptions small_trees = {.leaf = 4, .group = 12};

/// Bodies at random, some of them in tight clusters and some at the very same place.
std::vector<Particle> clustered(std::mt19937_64& random, std::size_t count) {
  std::normal_distribution<double> spread;
  std::vector<Particle> all;
  for (std::size_t i = 0; i < count; ++i) {
    Particle p;
    const double scale = i % 3 == 0 ? 1e-4 : 1;
    p.body = {scale * spread(random) + (i % 3 == 0 ? 2 : 0), scale * spread(random), scale * spread(random),
              0.5 + 1.0 / static_cast<double>(1 + i)};
    if (i % 50 == 49) p.body = all[i - 1].body;
    p.id = i;
    all.push_back(p);
  }
  return all;
}

void check_equal_moments(const Moments& a, const Moments& b, double tolerance) {
  const double largest = std::abs(b.xx) + std::abs(b.yy) + std::abs(b.zz);
  CHECK(a.mass == doctest::Approx(b.mass).epsilon(tolerance));
  for (const auto& [x, y] : {std::pair{a.x, b.x}, {a.y, b.y}, {a.z, b.z}})
    CHECK(std::abs(x - y) <= tolerance);
  for (const auto& [x, y] :
       {std::pair{a.xx, b.xx}, {a.xy, b.xy}, {a.xz, b.xz}, {a.yy, b.yy}, {a.yz, b.yz}, {a.zz, b.zz}})
    CHECK(std::abs(x - y) <= tolerance * largest);
}

/// Every body that is below the cell, by walking all trees; checks what must be true of each cell on the way.
std::vector<Body> below(const World& world, const Cell& cell) {
  std::vector<Body> all;
  if (cell.children == 0) {
    const auto& bodies = world.bodies.at(static_cast<std::size_t>(cell.owner));
    all.assign(bodies.begin() + cell.first_body, bodies.begin() + cell.first_body + cell.bodies);
  } else {
    REQUIRE(cell.children >= 2);
    REQUIRE(cell.children <= 8);
    const auto& cells =
        cell.owner == on_every_rank ? world.upper : world.trees[static_cast<std::size_t>(cell.owner)].cells;
    for (std::int32_t i = 0; i < cell.children; ++i) {
      const Cell& child = cells.at(static_cast<std::size_t>(cell.first_child + i));
      REQUIRE(child.edge < cell.edge);
      const std::vector<Body> more = below(world, child);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  REQUIRE(static_cast<std::int32_t>(all.size()) == cell.bodies);
  return all;
}

}  // namespace

TEST_CASE("barnes_hut: keys are octants, one digit a level") {
  const Cube cube = cube_around({-1, -1, -1}, {1, 0.5, 1});
  CHECK(cube.edge == 4);
  CHECK(octant(key_of({0.9, -1, -1, 1}, cube), 0) == 0);
  CHECK(octant(key_of({1.1, -1, -1, 1}, cube), 0) == 4);
  CHECK(octant(key_of({-1, 1.1, -1, 1}, cube), 0) == 2);
  CHECK(octant(key_of({-1, -1, 1.1, 1}, cube), 0) == 1);
  CHECK(octant(key_of({0.1, -1, -1, 1}, cube), 1) == 4);
  CHECK(cube_around({1, 1, 1}, {1, 1, 1}).edge == 1);
  constexpr unsigned seed = 1;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(-1, 1);
  for (int i = 0; i < 1000; ++i) {
    const Body a{place(random), place(random), place(random), 1},
        b{place(random), place(random), place(random), 1};
    const Key ka = key_of(a, cube), kb = key_of(b, cube);
    const int level = common_level(ka, kb);
    for (int l = 0; l < level; ++l) REQUIRE(octant(ka, l) == octant(kb, l));
    if (level < most_levels) REQUIRE(octant(ka, level) != octant(kb, level));
    const Point m = middle(ka, level, cube);
    const double half = cube.edge_at(level) / 2;
    for (const Body& body : {a, b}) {
      REQUIRE(std::abs(body.x - m.x) <= half);
      REQUIRE(std::abs(body.y - m.y) <= half);
      REQUIRE(std::abs(body.z - m.z) <= half);
    }
  }
  CHECK(common_level(5, 5) == most_levels);
}

TEST_CASE("barnes_hut: the moments of a cell are those of the bodies below it, whoever made the tree") {
  constexpr unsigned seed = 2;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Particle> particles = clustered(random, 700);
  const Cube cube = cube_of(bodies_of(particles));
  const std::vector<Key> keys = sort_by_key(particles, cube);
  const World alone = plant(particles, keys, cube, 1, 1000, small_trees);
  CHECK(alone.upper.empty());
  for (const int ranks : {1, 2, 3, 5, 40}) {
    CAPTURE(ranks);
    const World world = plant(particles, keys, cube, ranks, 12, small_trees);
    CHECK(below(world, world.root).size() == particles.size());
    // The same tree, bit by bit.
    CHECK(world.root.moments.xx == alone.root.moments.xx);
    CHECK(world.root.moments.x == alone.root.moments.x);
    CHECK(world.root.edge == alone.root.edge);
    std::size_t cells = world.upper.size(), groups = 0;
    for (const Tree& tree : world.trees) {
      cells += tree.cells.size();
      groups += tree.groups.size();
    }
    CHECK(cells == alone.trees[0].cells.size());
    CHECK(groups == alone.trees[0].groups.size());
  }
  const std::vector<Body> all = bodies_of(particles);
  // A leaf of all bodies at level 0: its moments are sums over bodies.
  Tree flat;
  const Cell sum =
      grow(flat, all, keys, 0, static_cast<std::int32_t>(all.size()), 0, cube, {.leaf = 1000, .group = 1000});
  check_equal_moments(alone.root.moments, sum.moments, 1e-12);
}

TEST_CASE("barnes_hut: domains hold all bodies, few each, and ranks get even shares") {
  constexpr unsigned seed = 3;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Particle> particles = clustered(random, 3000);
  const Cube cube = cube_of(bodies_of(particles));
  const std::vector<Key> keys = sort_by_key(particles, cube);
  for (const int ranks : {1, 3, 8}) {
    const auto domains = divide(50, ranks, [&](std::span<const Domain> asked) {
      std::vector<std::uint64_t> counts;
      for (const Domain& d : asked)
        counts.push_back(static_cast<std::uint64_t>(
            std::ranges::count_if(keys, [&](Key key) { return key >= d.first && key < d.end(); })));
      return counts;
    });
    std::vector<std::uint64_t> of_rank(static_cast<std::size_t>(ranks));
    Key end = 0;
    int owner = 0;
    for (const Domain& d : domains) {
      REQUIRE(d.first >= end);
      REQUIRE(d.bodies > 0);
      REQUIRE(d.bodies <= 50);
      REQUIRE(d.owner >= owner);
      end = d.end();
      owner = d.owner;
      of_rank[static_cast<std::size_t>(owner)] += d.bodies;
    }
    for (const std::uint64_t bodies : of_rank)
      CHECK(std::abs(static_cast<double>(bodies) - 3000.0 / ranks) <= 50);
  }
}

TEST_CASE("barnes_hut: every kernel does what the last does, which is what the direct sum says") {
  constexpr unsigned seed = 4;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Kernel& reference = kernels().back();
  for (const double softening : {0.0, 0.3})
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 31U, 64U}) {
      const std::vector<Particle> particles = clustered(random, count);
      const std::vector<Body> bodies = bodies_of(particles);
      Sources sources{bodies, {}};
      TargetList targets;
      targets.set(bodies);
      targets.add(reference, sources, softening);
      for (std::size_t i = 0; i < count; ++i) {
        Particle p = particles[i];
        std::tie(p.ax, p.ay, p.az) = std::tuple(targets[i].ax, targets[i].ay, targets[i].az);
        CHECK(squared_error(p, direct_sum(p, bodies, softening)) < 1e-28);
      }
      sources.cells.push_back({.x = 3,
                               .y = 4,
                               .z = 5,
                               .mass = 2,
                               .xx = 0.1,
                               .xy = -0.2,
                               .xz = 0.05,
                               .yy = 0.3,
                               .yz = 0.02,
                               .zz = 0.4});
      targets.set(bodies);
      targets.add(reference, sources, softening);
      for (const Kernel& kernel : kernels()) {
        CAPTURE(kernel.name);
        TargetList others;
        others.set(bodies);
        others.add(kernel, sources, softening);
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(others[i].ax == doctest::Approx(targets[i].ax).epsilon(1e-12));
          CHECK(others[i].ay == doctest::Approx(targets[i].ay).epsilon(1e-12));
          CHECK(others[i].az == doctest::Approx(targets[i].az).epsilon(1e-12));
          CHECK(others[i].potential == doctest::Approx(targets[i].potential).epsilon(1e-13));
        }
      }
    }
}

TEST_CASE("barnes_hut: a cell's pull and potential are right up to the octupole") {
  constexpr unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<Body> bodies = bodies_of(clustered(random, 20));
  const Cube cube = cube_of(bodies);
  const Cell cell = cell_of(bodies, key_of(bodies[0], cube), 0, cube);
  for (const double softening : {0.0, 20.0}) {
    double errors[2];
    for (int i = 0; i < 2; ++i) {
      const double away = 60.0 * (1 + i);
      const std::vector<Body> target = {{away, away / 2, -away / 3, 1}};
      TargetList exact, approximate;
      exact.set(target);
      exact.add(best_kernel(), {bodies, {}}, softening);
      approximate.set(target);
      approximate.add(best_kernel(), {{}, {cell.moments}}, softening);
      errors[i] = std::abs(approximate[0].ax / exact[0].ax - 1);
      CHECK(std::abs(approximate[0].potential / exact[0].potential - 1) < 1e-4);
    }
    CAPTURE(softening);
    CAPTURE(errors[0]);
    // What is left out shrinks with the third power of the distance.
    CHECK(errors[0] < 1e-3);
    CHECK(errors[1] < errors[0] / 5);
  }
}

TEST_CASE("barnes_hut: with theta 0 the forces are direct sums, on any number of ranks") {
  constexpr unsigned seed = 6;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::size_t count : {1U, 2U, 100U, 500U})
    for (const int ranks : {1, 2, 5}) {
      std::vector<Particle> particles = clustered(random, count);
      compute(particles, ranks, {0}, 0.01, small_trees);
      CAPTURE(count);
      CAPTURE(ranks);
      CHECK(error_of(particles, 0.01) < 1e-13);
    }
}

TEST_CASE("barnes_hut: any number of ranks gives the same forces, to rounding") {
  constexpr unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Particle> alone = clustered(random, 900);
  compute(alone, 1, {0.6}, 0.02, small_trees);
  for (const int ranks : {2, 3, 5, 8, 60}) {
    CAPTURE(ranks);
    std::vector<Particle> together = alone;
    compute(together, ranks, {0.6}, 0.02, small_trees);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      REQUIRE(together[i].id == alone[i].id);
      REQUIRE(squared_error(together[i], {alone[i].ax, alone[i].ay, alone[i].az}) < 1e-24);
    }
  }
}

TEST_CASE("barnes_hut: all below a cell lies together, its children last") {
  constexpr unsigned seed = 8;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Particle> particles = clustered(random, 900);
  const Cube cube = cube_of(bodies_of(particles));
  const std::vector<Key> keys = sort_by_key(particles, cube);
  const World world = plant(particles, keys, cube, 3, 100, small_trees);
  for (const Tree& tree : world.trees)
    for (const Cell& cell : tree.cells) {
      std::int32_t below = 0, bodies = 0;
      for (std::int32_t i = 0; i < cell.children; ++i) {
        const Cell& child = tree.cells.at(static_cast<std::size_t>(cell.first_child + i));
        REQUIRE(child.first_body == cell.first_body + bodies);
        below += child.below + 1;
        bodies += child.bodies;
        // What is below the children, in their order, fills what is before them.
        if (child.children > 0) {
          REQUIRE(child.first_child + child.children <= cell.first_child);
          REQUIRE(child.first_child + child.children - child.below >=
                  cell.first_child + cell.children - cell.below);
        }
      }
      REQUIRE(cell.below == below);
      if (cell.children > 0) REQUIRE(cell.bodies == bodies);
    }
}

TEST_CASE("barnes_hut: larger subtrees are read by fewer gets, and change no force") {
  std::vector<Particle> alone = plummer(3, 0, 2000, 2000);
  constexpr TreeOptions trees = {.leaf = 4, .group = 200};  // of domains, too
  compute(alone, 1, {0.6, 0}, 0.02, trees);
  std::uint64_t gets = ~std::uint64_t{0}, bytes = 0;
  for (const std::int32_t subtree : {0, 12, 40, 120}) {
    CAPTURE(subtree);
    std::vector<Particle> together = alone;
    const remote::Statistics statistics = compute(together, 4, {0.6, subtree}, 0.02, trees);
    CHECK(statistics.gets < gets);
    CHECK(statistics.get_bytes > bytes);
    gets = statistics.gets;
    bytes = statistics.get_bytes;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      REQUIRE(together[i].id == alone[i].id);
      REQUIRE(squared_error(together[i], {alone[i].ax, alone[i].ay, alone[i].az}) < 1e-24);
    }
  }
}

TEST_CASE("barnes_hut: the error of forces falls with theta") {
  std::vector<Particle> particles = plummer(1, 0, 3000, 3000);
  double last = 1;
  // The quadrupole's error goes with the third to fourth power of theta.
  for (const auto& [theta, most] : {std::pair{1.0, 5e-3}, {0.5, 7e-4}, {0.25, 1e-4}}) {
    compute(particles, 1, {theta}, 0.01, {});
    const double error = error_of(particles, 0.01);
    CAPTURE(theta);
    CHECK(error < most);
    CHECK(error < last / 4);
    last = error;
  }
}

TEST_CASE("barnes_hut: a Plummer sphere is the same whoever draws it, and in equilibrium") {
  constexpr std::uint64_t count = 20'000;
  std::vector<Particle> at_once = plummer(5, 0, count, count);
  std::vector<Particle> together = plummer(5, 0, 7, count);
  for (const Particle& p : plummer(5, 7, count - 7, count)) together.push_back(p);
  CHECK(together == at_once);
  CHECK(plummer(6, 0, 10, count) != plummer(5, 0, 10, count));
  compute(at_once, 1, {0.7}, 0, {});
  const Conserved sums = conserved(at_once);
  CHECK(sums.kinetic == doctest::Approx(0.25).epsilon(0.03));
  CHECK(sums.potential == doctest::Approx(-0.5).epsilon(0.03));
  CHECK(std::abs(sums.px) + std::abs(sums.py) + std::abs(sums.pz) < 0.02);
}

TEST_CASE("barnes_hut: a leapfrog conserves energy and momentum, and can be run backwards") {
  std::vector<Particle> particles = plummer(9, 0, 300, 300);
  const auto forces = [&] { compute(particles, 3, {0}, 0.05, small_trees); };
  const auto step = [&](double time) {
    kick(particles, time / 2);
    drift(particles, time);
    forces();
    kick(particles, time / 2);
  };
  forces();
  const std::vector<Particle> begin = particles;
  const Conserved before = conserved(particles);
  for (int i = 0; i < 20; ++i) step(1.0 / 64);
  const Conserved after = conserved(particles);
  CHECK(after.energy() == doctest::Approx(before.energy()).epsilon(1e-3));
  CHECK(after.kinetic != doctest::Approx(before.kinetic).epsilon(1e-12));
  CHECK(after.px == doctest::Approx(before.px).epsilon(1e-12));
  CHECK(after.py == doctest::Approx(before.py).epsilon(1e-12));
  CHECK(after.pz == doctest::Approx(before.pz).epsilon(1e-12));
  for (int i = 0; i < 20; ++i) step(-1.0 / 64);
  const Cube cube = cube_of(bodies_of(begin));
  sort_by_key(particles, cube);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    REQUIRE(particles[i].id == begin[i].id);
    CHECK(particles[i].body.x == doctest::Approx(begin[i].body.x).epsilon(1e-9));
  }
}

TEST_CASE("barnes_hut: files of bodies, and what is wrong with them") {
  const std::vector<Particle> two =
      parse_bodies("f", "# mass x y z vx vy vz\n1 0 0 0 0 0 0\n\n2.5,-1,2,3e1,4,5,6\n");
  REQUIRE(two.size() == 2);
  CHECK(two[1].body == Body{-1, 2, 30, 2.5});
  CHECK(two[1].vz == 6);
  CHECK(two[1].id == 1);
  const std::pair<std::string, std::string> damaged[] = {
      {"1 0 0 0 0 0", "f, line 1: the velocity is missing"},
      {"\n1 0 nan 0 0 0 0", "f, line 2: the coordinate 'nan' is not a finite number"},
      {"-1 0 0 0 0 0 0", "f, line 1: the mass '-1' is not a finite number of at least 0"},
      {"1 0 0 0 0 0 0 8", "f, line 1: '8' stands where the line should end"},
      {"1 0 0 0 0 0 0\n1 0 -1e151 0 0 0 0",
       "f, line 2: the coordinate -1e+151 is beyond 1e+100, and forces would overflow; write all bodies in "
       "larger units"},
      {"1e101 0 0 0 0 0 0", "f, line 1: the mass 1e+101 is beyond 1e+100"},
      {"1 0 0 0 0 0 1e308", "f, line 1: the velocity 1e+308 is beyond 1e+100"},
      {"1 0 0 1e400 0 0 0", "f, line 1: the coordinate '1e400' is not a finite number"},
      {"one 0 0 0 0 0 0", "f, line 1: the mass 'one' is not a finite number"},
  };
  for (const auto& [text, message] : damaged)
    CHECK_THROWS_WITH_AS(parse_bodies("f", text), doctest::Contains(message.c_str()), apps::input_error);
}
