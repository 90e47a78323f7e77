#include "lj_fluid/start.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "lj_fluid/bonds.hpp"
#include "support/mix.hpp"

namespace lj_fluid {
namespace {

/// In (0, 1).
double uniform(std::uint64_t seed, std::uint64_t identity, std::uint64_t number) {
  const std::uint64_t bits = apps::mix(apps::mix(apps::mix(seed) ^ identity) + number);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// Normally distributed (Box and Muller).
double normal(std::uint64_t seed, std::uint64_t identity, std::uint64_t number) {
  return std::sqrt(-2 * std::log(uniform(seed, identity, 2 * number))) *
         std::cos(2 * std::numbers::pi * uniform(seed, identity, 2 * number + 1));
}

}  // namespace

Vector random_place(std::uint64_t seed, std::uint64_t identity, double length) {
  Vector place;
  for (std::size_t i = 0; i < 3; ++i) place[i] = length * uniform(seed, identity, i);
  return place;
}

std::uint64_t places_of(const Lattice& lattice) {
  const auto cells = static_cast<std::uint64_t>(lattice.cells);
  return 4 * cells * cells * cells;
}

Vector lattice_place(const Lattice& lattice, std::uint64_t identity) {
  constexpr std::array<Vector, 4> basis{{{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}};
  const auto n = static_cast<std::uint64_t>(lattice.cells);
  const std::uint64_t cube = (identity - 1) / 4;
  const std::array<std::uint64_t, 3> at{cube % n, cube / n % n, cube / (n * n)};
  Vector place = basis[(identity - 1) % 4];
  for (std::size_t i = 0; i < 3; ++i)
    place[i] = (place[i] + static_cast<double>(at[i])) * lattice.length / lattice.cells;
  return place;
}

std::vector<Atom> placed(std::uint64_t count, double length, int lattice_cells, std::uint64_t seed) {
  std::vector<Atom> atoms(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    atoms[i].identity = i + 1;
    atoms[i].position =
        lattice_cells > 0 ? lattice_place({lattice_cells, length}, i + 1) : random_place(seed, i + 1, length);
  }
  return atoms;
}

void bring_partners_together(std::vector<Atom>& atoms, double length, std::uint64_t seed) {
  const std::uint64_t own_seed = seed + 0xb0d;  // not that of the places
  for (std::size_t i = 1; i < atoms.size(); i += 2) {
    Vector direction;
    double square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      direction[k] = normal(own_seed, atoms[i].identity, k);
      square += direction[k] * direction[k];
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const double at = atoms[i - 1].position[k] + bond_length * direction[k] / std::sqrt(square);
      atoms[i].position[k] = at < 0 ? at + length : at >= length ? at - length : at;
    }
  }
}

void heat(std::vector<Atom>& atoms, double temperature, std::uint64_t seed) {
  const std::uint64_t own_seed = seed + 0x5eed;  // not that of the places
  Vector sum{};
  for (Atom& atom : atoms)
    for (std::size_t i = 0; i < 3; ++i) sum[i] += atom.velocity[i] = normal(own_seed, atom.identity, i);
  double square = 0;
  for (Atom& atom : atoms)
    for (std::size_t i = 0; i < 3; ++i) {
      atom.velocity[i] -= sum[i] / static_cast<double>(atoms.size());
      square += atom.velocity[i] * atom.velocity[i];
    }
  const double now = square / (3 * (static_cast<double>(atoms.size()) - 1));
  const double scale = now > 0 ? std::sqrt(temperature / now) : 0;
  for (Atom& atom : atoms)
    for (double& v : atom.velocity) v *= scale;
}

namespace {

using Grid = std::array<int, 3>;

bool fits(const Grid& grid, int dimensions, const Vector& lengths, double width) {
  int cut = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (lengths[i] / grid[i] < width) return false;
    cut += grid[i] > 1;
  }
  return cut <= dimensions;
}

double surface(const Grid& grid, const Vector& lengths) {
  const double x = lengths[0] / grid[0], y = lengths[1] / grid[1], z = lengths[2] / grid[2];
  return x * y + y * z + z * x;
}

}  // namespace

std::optional<Grid> process_grid(int domains, int dimensions, const Vector& lengths, double width) {
  std::optional<Grid> best;
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= domains; ++x) {
    if (domains % x != 0) continue;
    for (int y = 1; y <= domains / x; ++y) {
      if (domains / x % y != 0) continue;
      const Grid grid{x, y, domains / x / y};
      if (!fits(grid, dimensions, lengths, width) || surface(grid, lengths) >= least) continue;
      best = grid;
      least = surface(grid, lengths);
    }
  }
  return best;
}

int most_domains(int domains, int dimensions, const Vector& lengths, double width) {
  while (domains > 0 && !process_grid(domains, dimensions, lengths, width)) --domains;
  return domains;
}

}  // namespace lj_fluid
