// The distributed fluid against all pairs on one rank: forces, energies, ghosts, identities, energy over time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "lj_fluid/simulation.hpp"
#include "lj_fluid/start.hpp"
#include "support/mpi/comm.hpp"

using namespace lj_fluid;

namespace {

const MPI_Comm comm = MPI_COMM_WORLD;
bool right = true;
bool bonded = false;  // partners, which then do not repel each other

void check(bool holds, const char* what, double value = 0) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: %s (%.17g)\n", apps::rank_of(comm), what, value);
  right = false;
}

Particle particle_of(const Atom& atom) {
  Particle particle;
  particle.properties.identity = atom.identity;
  particle.position.position = atom.position;
  particle.momentum.velocity = atom.velocity;
  if (bonded) particle.bonds = particle.exclusions = {partner_of(atom.identity)};
  return particle;
}

/// Every rank has some to begin with, wherever they are.
std::vector<Particle> share(const std::vector<Atom>& atoms) {
  std::vector<Particle> mine;
  for (const Atom& atom : atoms)
    if (static_cast<int>(atom.identity) % apps::size_of(comm) == apps::rank_of(comm))
      mine.push_back(particle_of(atom));
  return mine;
}

wherry::Box<3> cube(double length) { return {{0, 0, 0}, {length, length, length}, {true, true, true}}; }

/// All particles, in the order of identities, on all ranks.
std::vector<Atom> gathered(const Domain& domain) {
  std::vector<Atom> all;
  for (const std::vector<Atom>& atoms : wherry::allgather_objects(domain.atoms(), comm))
    all.insert(all.end(), atoms.begin(), atoms.end());
  std::ranges::sort(all, {}, &Atom::identity);
  return all;
}

struct Reference {
  std::vector<Vector> forces;
  Totals totals;
};

/// Of every pair at its nearest image, one after the other, from the formulas. The box is wider than two cutoffs.
Reference all_pairs(const std::vector<Atom>& atoms, double length, const Potential& potential) {
  Reference result{std::vector<Vector>(atoms.size()), {}};
  for (std::size_t i = 0; i < atoms.size(); ++i)
    for (std::size_t j = 0; j < atoms.size(); ++j) {
      double r2 = 0;
      Vector d;
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = atoms[i].position[k] - atoms[j].position[k];
        d[k] -= length * std::round(d[k] / length);
        r2 += d[k] * d[k];
      }
      const double r = std::sqrt(r2);
      const bool partners = bonded && atoms[j].identity == partner_of(atoms[i].identity);
      if (i == j || (!partners && !(r < potential.cutoff))) continue;
      if (partners) {
        for (std::size_t k = 0; k < 3; ++k)
          result.forces[i][k] -= bond_stiffness * (r - bond_length) * d[k] / r;
        result.totals.energy += bond_stiffness * (r - bond_length) * (r - bond_length) / 4;
        result.totals.virial -= bond_stiffness * (r - bond_length) * r / 2;
        continue;
      }
      const double r6 = std::pow(r, -6), slope = 24 / r * (2 * r6 * r6 - r6);
      for (std::size_t k = 0; k < 3; ++k) result.forces[i][k] += slope * d[k] / r;
      result.totals.energy += (4 * (r6 * r6 - r6) + potential.shift) / 2;
      result.totals.virial += slope * r / 2;
    }
  return result;
}

struct Case {
  const char* name;
  std::uint64_t particles;
  double length;
  Physics physics;
  std::array<int, 3> grid;
};

void check_forces(const Case& c, Domain& domain) {
  const Potential potential = cut_off(c.physics.cutoff, c.physics.shifted);
  Totals mine;
  domain.compute_forces(potential, &mine);
  const std::vector<Atom> all = gathered(domain);
  check(all.size() == c.particles, "particles were lost or doubled", double(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) check(all[i].identity == i + 1, "an identity is missing");
  const Reference expected = all_pairs(all, c.length, potential);
  double largest = 0;
  for (const Vector& f : expected.forces)
    for (const double x : f) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      check(std::abs(all[i].force[k] - expected.forces[i][k]) <= 1e-12 * largest, "a force is off",
            all[i].force[k] - expected.forces[i][k]);
  const double energy = apps::reduced(mine.energy, MPI_SUM, comm),
               virial = apps::reduced(mine.virial, MPI_SUM, comm);
  check(std::abs(energy - expected.totals.energy) <= 1e-11 * std::abs(expected.totals.energy),
        "the energy is off", energy);
  check(std::abs(virial - expected.totals.virial) <= 1e-11 * std::abs(expected.totals.virial),
        "the virial is off", virial);
}

/// How many images of all particles lie around this rank's domain, on the side that ghosts come from: below it in the
/// last dimension in which they are outside its bounds.
std::size_t expected_ghosts(const Case& c, const Domain& domain) {
  const auto& decomposition = domain.decomposition();
  const double reach = c.physics.cutoff + c.physics.skin;
  std::size_t ghosts = 0;
  for (const Atom& atom : gathered(domain))
    for (int code = 0; code < 27; ++code) {
      bool inside = true, below = false;
      for (std::size_t k = 0, rest = static_cast<std::size_t>(code); k < 3; ++k, rest /= 3) {
        const double x = atom.position[k] + (double(rest % 3) - 1) * c.length;
        inside &= x >= decomposition.lower(k) - reach && x <= decomposition.upper(k) + reach;
        if (x < decomposition.lower(k)) below = true;
        else if (x >= decomposition.upper(k)) below = false;
      }
      ghosts += inside && below;
    }
  return ghosts;
}

std::array<int, 3> grid_of(int dimensions, double length, const Physics& physics) {
  const auto grid =
      process_grid(apps::size_of(comm), dimensions, {length, length, length}, physics.cutoff + physics.skin);
  if (!grid) std::fprintf(stderr, "no grid\n"), MPI_Abort(comm, 1);
  return *grid;
}

void forces_agree(const Case& c) {
  std::vector<Atom> atoms = placed(c.particles, c.length, 0, 7);
  if (bonded) bring_partners_together(atoms, c.length, 7);
  heat(atoms, 1, 7);
  Domain domain(comm, cube(c.length), c.grid, {c.physics.cutoff, c.physics.skin}, share(atoms));
  Simulation simulation(domain, c.physics, 0, Simulation::Forces::unknown);
  check(simulation.relax(2000, 200).largest_force <= 2000, "the start does not relax");
  simulation.settle();
  check(domain.ghosts() == expected_ghosts(c, domain), "the number of ghosts is off",
        double(domain.ghosts()));
  check_forces(c, domain);
  for (int i = 0; i < 50; ++i) check(simulation.step(Simulation::Measure::no), "a step failed");
  check(simulation.rebuilds() > 1, "particles stayed where they were");
  check_forces(c, domain);
  check(simulation.problem().empty(), "a problem was found");
}

/// Two particles a distance apart across a face, an edge or a corner of domains and of the box.
void pairs_meet_everywhere(const Physics& physics, double length, const std::array<int, 3>& grid,
                           wherry::Route route) {
  for (int code = 1; code < 27; ++code)
    for (const double border : {0.0, 0.5}) {
      std::vector<Atom> atoms(2);
      Vector direction{double(code % 3 - 1), double(code / 3 % 3 - 1), double(code / 9 - 1)};
      const double norm =
          std::sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
      if (norm == 0) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        atoms[0].position[k] = length * border - 0.52 * direction[k] / norm;
        atoms[1].position[k] = length * border + 0.52 * direction[k] / norm;
      }
      atoms[0].identity = 1, atoms[1].identity = 2;
      Domain domain(comm, cube(length), grid, {physics.cutoff, physics.skin}, share(atoms), by_wherry(route));
      check_forces({"pair", 2, length, physics, grid}, domain);
    }
}

/// The energy after so many steps is what it was, up to the error of the integrator.
void energy_is_kept(const std::array<int, 3>& grid, double length) {
  Physics physics{
      .cutoff = 2.5, .shifted = true, .dt = 0.002, .langevin = false, .temperature = 1.44, .skin = 0.3};
  std::vector<Atom> atoms = placed(864, length, 6, 1);
  heat(atoms, physics.temperature, 1);
  Domain domain(comm, cube(length), grid, {physics.cutoff, physics.skin}, share(atoms));
  Simulation simulation(domain, physics, 0, Simulation::Forces::unknown);
  const double before = simulation.measured().total();
  check(std::abs(simulation.measured().temperature - 1.44) < 1e-12, "the temperature is off");
  for (int i = 0; i < 400; ++i)
    simulation.step(i == 399 ? Simulation::Measure::yes : Simulation::Measure::no);
  check(std::abs(simulation.measured().total() - before) < 2e-4, "the energy drifts",
        simulation.measured().total() - before);
  check(simulation.measured().temperature < 1.2, "the lattice does not melt",
        simulation.measured().temperature);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Physics wca, cut{.cutoff = 2.5, .shifted = false, .dt = 0.005, .skin = 0.3};
  constexpr double wca_length = 13.2, cut_length = 10.5;
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    // Slabs of eight ranks hold one reach of the short potential only.
    const auto grid = grid_of(dimensions, wca_length, wca);
    forces_agree({"WCA", 900, wca_length, wca, grid});
    if (process_grid(apps::size_of(comm), dimensions, {cut_length, cut_length, cut_length}, 2.8))
      forces_agree({"cut off", 800, cut_length, cut, grid_of(dimensions, cut_length, cut)});
    if (dimensions != 2) pairs_meet_everywhere(wca, wca_length, grid, wherry::Route::direct);
  }
  bonded = true;
  forces_agree({"bonded", 900, wca_length, wca, grid_of(3, wca_length, wca)});
  for (const wherry::Route route : {wherry::Route::direct, wherry::Route::staged})
    pairs_meet_everywhere(wca, wca_length, grid_of(3, wca_length, wca), route);
  bonded = false;
  const auto grid = process_grid(apps::size_of(comm), 3, {10.0782, 10.0782, 10.0782}, 2.8);
  if (grid) energy_is_kept(*grid, 10.0782);
  const int code = apps::on_all(right, comm) ? 0 : 1;
  MPI_Finalize();
  return code;
}
