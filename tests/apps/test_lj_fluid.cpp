#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "lj_fluid/bonds.hpp"
#include "lj_fluid/forces.hpp"
#include "lj_fluid/noise.hpp"
#include "lj_fluid/start.hpp"

using namespace lj_fluid;

namespace {

/// A domain of own particles with ghosts around it, all at random places that are not too near to each other.
struct Drawn {
  static constexpr double length = 6;
  double reach;
  std::vector<Site> sites;
  std::size_t own = 0;
  std::vector<std::uint64_t> identities;

  Drawn(unsigned seed, double reach_, std::size_t wanted) : reach(reach_) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> inside(0, length), anywhere(-reach, length + reach);
    while (sites.size() < wanted) add(inside(random), inside(random), inside(random));
    sort();
    own = sites.size();
    for (int tries = 0; tries < 4000; ++tries) {
      const Vector at{anywhere(random), anywhere(random), anywhere(random)};
      const bool within = std::ranges::all_of(at, [](double x) { return x >= 0 && x < length; });
      if (!within) add(at[0], at[1], at[2]);
    }
    for (std::size_t i = 0; i < sites.size(); ++i) identities.push_back(1 + (i * 7919) % 1000003);
    sites.push_back({.position = nowhere, .force = {}});
  }
  Cells cells() const { return {{0, 0, 0}, {length, length, length}, reach}; }

 private:
  void add(double x, double y, double z) {
    const bool near = std::ranges::any_of(sites, [&](const Site& s) {
      return std::hypot(s.position[0] - x, s.position[1] - y, s.position[2] - z) < 0.8;
    });
    if (!near) sites.push_back({.position = {x, y, z}, .force = {}});
  }
  void sort() {
    const Binned bins = binned(cells(), sites, Cells::Of::own);
    std::vector<Site> sorted;
    for (const std::uint32_t i : bins.members) sorted.push_back(sites[i]);
    sites = sorted;
  }
};

double distance(const Site& a, const Site& b) {
  return std::hypot(a.position[0] - b.position[0], a.position[1] - b.position[1],
                    a.position[2] - b.position[2]);
}

using Pairs = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;

/// Without what fills groups.
Pairs listed(const PairLists& lists, std::uint32_t nobody) {
  Pairs pairs;
  for (std::uint32_t i = 0; i + 1 < lists.begins.size(); ++i)
    for (std::uint32_t k = lists.begins[i]; k < lists.begins[i + 1]; ++k)
      if (lists.others[k] != nobody) pairs.emplace(std::minmax(i, lists.others[k]));
  return pairs;
}

void check_listed(const Pairs& pairs, const Pairs& expected, const Drawn& drawn) {
  CHECK(std::ranges::includes(pairs, expected));
  CHECK(std::set(pairs.begin(), pairs.end()).size() == pairs.size());
  for (const auto& [i, j] : pairs) CHECK(distance(drawn.sites[i], drawn.sites[j]) < drawn.reach * (1 + 1e-5));
}

}  // namespace

TEST_CASE("lj_fluid: lists have every pair within reach once, and hardly any other") {
  for (const double reach : {1.3, 2.0, 2.8, 5.9}) {
    const Drawn drawn(3, reach, 150);
    const Cells cells = drawn.cells();
    BothLists lists;
    find_pairs({cells, drawn.sites, drawn.own, drawn.identities, reach}, lists);
    REQUIRE(lists.own.begins.size() == drawn.own + 1);
    Pairs own, ghosts;
    const auto n = static_cast<std::uint32_t>(drawn.sites.size() - 1);
    for (std::uint32_t i = 0; i < drawn.own; ++i)
      for (std::uint32_t j = i + 1; j < n; ++j) {
        if (distance(drawn.sites[i], drawn.sites[j]) > reach) continue;
        if (j < drawn.own) own.emplace(i, j);
        else ghosts.emplace(i, j);
      }
    CAPTURE(reach);
    CHECK(own.size() > 100);
    CHECK(ghosts.size() > 50);
    check_listed(listed(lists.own, n), own, drawn);
    check_listed(listed(lists.ghosts, n), ghosts, drawn);
    for (const PairLists* list : {&lists.own, &lists.ghosts})
      for (const std::uint32_t begin : list->begins) REQUIRE(begin % PairLists::group == 0);
  }
}

TEST_CASE("lj_fluid: vector kernel and scalar kernel agree, and add up to nothing") {
  for (const auto& [cutoff, shifted] : {std::pair{wca_cutoff, true}, std::pair{2.5, false}}) {
    Drawn drawn(5, cutoff + 0.3, 150);
    const Cells cells = drawn.cells();
    const Potential potential = cut_off(cutoff, shifted);
    BothLists lists;
    find_pairs({cells, drawn.sites, drawn.own, drawn.identities, cutoff + 0.3}, lists);
    std::vector<Site> vector = drawn.sites, scalar = drawn.sites;
    Totals by_vector, by_scalar;
    for (const PairLists* list : {&lists.own, &lists.ghosts}) {
      add_forces(vector, *list, 0, drawn.own, potential, &by_vector);
      add_forces_scalar(scalar, *list, 0, drawn.own, potential, &by_scalar);
    }
    std::vector<Site> without = drawn.sites;
    for (const PairLists* list : {&lists.own, &lists.ghosts})
      add_forces(without, *list, 0, drawn.own, potential, nullptr);
    double largest = 0;
    Vector sum{};
    for (const Site& site : scalar)
      for (std::size_t k = 0; k < 3; ++k) largest = std::max(largest, std::abs(site.force[k]));
    REQUIRE(largest > 1);
    for (std::size_t i = 0; i < vector.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        REQUIRE(std::abs(vector[i].force[k] - scalar[i].force[k]) <= 1e-13 * largest);
        REQUIRE(vector[i].force[k] == without[i].force[k]);
        sum[k] += vector[i].force[k];
      }
    for (const double x : sum) CHECK(std::abs(x) < 1e-11 * largest);
    CHECK(by_vector.energy == doctest::Approx(by_scalar.energy).epsilon(1e-13));
    CHECK(by_vector.virial == doctest::Approx(by_scalar.virial).epsilon(1e-13));
  }
}

TEST_CASE("lj_fluid: the potential is shifted to zero, and the force is its slope") {
  const Potential wca = cut_off(wca_cutoff, true), cut = cut_off(2.5, false);
  CHECK(wca.shift == doctest::Approx(1).epsilon(1e-14));
  CHECK(cut.shift == 0);
  CHECK(cut_off(2.5, true).shift == doctest::Approx(0.016316891136).epsilon(1e-10));
  std::vector<Site> sites(3);
  sites[1].position = {1.05, 0, 0}, sites[2].position = nowhere;
  const PairLists lists{{0, 4}, {1, 2, 2, 2}};
  const auto energy = [&](double x) {
    sites[1].position[0] = x;
    for (Site& site : sites) site.force = {};
    Totals totals;
    add_forces(sites, lists, 0, 1, wca, &totals);
    return totals.energy;
  };
  const double slope = (energy(1.05 + 1e-6) - energy(1.05 - 1e-6)) / 2e-6;
  energy(1.05);
  CHECK(sites[1].force[0] == doctest::Approx(-slope).epsilon(1e-7));
  CHECK(sites[0].force[0] == -sites[1].force[0]);
  CHECK(energy(wca_cutoff + 1e-9) == 0);
}

TEST_CASE("lj_fluid: particles at one place have a force that is no number") {
  std::vector<Site> sites(3);
  sites[2].position = nowhere;
  add_forces(sites, {{0, 4}, {1, 2, 2, 2}}, 0, 1, cut_off(wca_cutoff, true), nullptr);
  CHECK(std::isnan(sites[0].force[0]));
  CHECK(sites[2].force == Vector{});
}

TEST_CASE("lj_fluid: noise has mean 0 and variance 1, and differs by particle, step and seed") {
  double sum = 0, square = 0, product = 0;
  constexpr int n = 30000;
  for (std::uint64_t i = 1; i <= n; ++i) {
    const Vector now = noise(step_key(1, 10), i), next = noise(step_key(1, 11), i);
    for (std::size_t k = 0; k < 3; ++k) {
      sum += now[k], square += now[k] * now[k], product += now[k] * next[k];
      CHECK(std::abs(now[k]) <= std::sqrt(3.0));
    }
  }
  // Four standard deviations.
  CHECK(std::abs(sum / (3 * n)) < 4 / std::sqrt(3.0 * n));
  CHECK(std::abs(square / (3 * n) - 1) < 4 * std::sqrt(0.8 / (3.0 * n)));
  CHECK(std::abs(product / (3 * n)) < 4 / std::sqrt(3.0 * n));
  CHECK(noise(step_key(1, 10), 5) == noise(step_key(1, 10), 5));
  CHECK(noise(step_key(1, 10), 5) != noise(step_key(2, 10), 5));
}

TEST_CASE("lj_fluid: lattices, random places and velocities") {
  const std::vector<Atom> lattice = placed(4 * 27, 3, 3, 1);
  double nearest = 10;
  for (std::size_t j = 1; j < lattice.size(); ++j) {
    double r2 = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double d = lattice[0].position[k] - lattice[j].position[k];
      r2 += std::pow(d - 3 * std::round(d / 3), 2);
    }
    nearest = std::min(nearest, std::sqrt(r2));
  }
  CHECK(nearest == doctest::Approx(std::sqrt(0.5)));
  std::vector<Atom> random = placed(500, 5, 0, 1);
  CHECK(random[7] == placed(8, 5, 0, 1)[7]);
  CHECK(random[7].position != placed(8, 5, 0, 2)[7].position);
  heat(random, 1.44, 1);
  Vector sum{};
  double square = 0;
  for (const Atom& atom : random) {
    CHECK(std::ranges::all_of(atom.position, [](double x) { return x > 0 && x < 5; }));
    for (std::size_t k = 0; k < 3; ++k)
      sum[k] += atom.velocity[k], square += atom.velocity[k] * atom.velocity[k];
  }
  for (const double x : sum) CHECK(std::abs(x) < 1e-11);
  CHECK(square / (3 * 499) == doctest::Approx(1.44).epsilon(1e-12));
}

TEST_CASE("lj_fluid: grids have the least surface among those that fit") {
  using Grid = std::array<int, 3>;
  CHECK(process_grid(8, 3, {10, 10, 10}, 2) == Grid{2, 2, 2});
  CHECK(process_grid(8, 1, {10, 10, 10}, 1) == Grid{1, 1, 8});
  CHECK(process_grid(8, 2, {80, 10, 10}, 1) == Grid{8, 1, 1});
  CHECK(process_grid(6, 2, {10, 10, 10}, 1) == Grid{1, 2, 3});
  CHECK(process_grid(7, 3, {10, 10, 20}, 2) == Grid{1, 1, 7});
  CHECK(!process_grid(7, 3, {10, 10, 10}, 2));
  CHECK(most_domains(7, 3, {10, 10, 10}, 2) == 6);
  CHECK(most_domains(7, 3, {1, 10, 10}, 2) == 0);
}

TEST_CASE("lj_fluid: bonds pull with their slope, to the nearest image") {
  std::vector<Site> sites(3);
  sites[1].position = {0.6, 0.8, 0.3}, sites[2].position = {-3, 0, 0};
  const std::vector<std::uint64_t> identities{5, 6, 6};
  CHECK(SitesByIdentity(sites, identities).nearest(6, {0, 0, 0}) == 1);
  CHECK(SitesByIdentity(sites, identities).nearest(6, {-2, 0, 0}) == 2);
  CHECK(SitesByIdentity(sites, identities).nearest(7, {0, 0, 0}) == SitesByIdentity::none);
  const std::vector<Bond> bonds{{0, 1}};
  const auto energy = [&](double x) {
    sites[1].position[0] = x;
    for (Site& site : sites) site.force = {};
    Totals totals;
    add_bonds(sites, bonds, &totals);
    return totals.energy;
  };
  const double slope = (energy(0.6 + 1e-6) - energy(0.6 - 1e-6)) / 2e-6;
  CHECK(energy(0.6) == doctest::Approx(50 * std::pow(std::sqrt(1.09) - 1, 2)));
  CHECK(sites[1].force[0] == doctest::Approx(-slope).epsilon(1e-6));
  CHECK(sites[0].force[0] == -sites[1].force[0]);
}

TEST_CASE("lj_fluid: partners are brought together, and are not listed if they exclude each other") {
  std::vector<Atom> atoms = placed(101, 6, 0, 1);
  const Vector last = atoms[100].position;
  bring_partners_together(atoms, 6, 1);
  CHECK(atoms[100].position == last);
  for (std::size_t i = 0; i + 1 < atoms.size(); i += 2) {
    double square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double d = atoms[i].position[k] - atoms[i + 1].position[k];
      square += std::pow(d - 6 * std::round(d / 6), 2);
      CHECK((atoms[i + 1].position[k] >= 0 && atoms[i + 1].position[k] < 6));
    }
    CHECK(square == doctest::Approx(1));
  }
  const Drawn drawn(3, 2.0, 150);
  const Cells cells = drawn.cells();
  const auto nobody = static_cast<std::uint32_t>(drawn.sites.size() - 1);
  BothLists with, without;
  find_pairs({cells, drawn.sites, drawn.own, drawn.identities, 2.0}, with);
  // Everyone excludes the first particle; so it excludes all.
  const std::vector<std::uint64_t> first{drawn.identities[0]};
  std::vector<std::span<const std::uint64_t>> exclusions(drawn.own, std::span(first));
  exclusions[0] = drawn.identities;
  find_pairs({cells, drawn.sites, drawn.own, drawn.identities, 2.0, exclusions}, without);
  for (const auto lists : {&BothLists::own, &BothLists::ghosts}) {
    Pairs expected = listed(with.*lists, nobody);
    std::erase_if(expected, [](const auto& pair) { return pair.first == 0; });
    CHECK(listed(without.*lists, nobody) == expected);
  }
}
