// What does it cost a fluid to send its particles as Boost.MPI does, in the steps that ESPResSo's issue 4415 improved
// that, as its pull request 5404 does, and by Wherry's headers?
//
//   bench_overhead --particles-per-rank 1000,10000 --turns 30 --steps 50
// The same fluid by each of them, from one state, in turns of so many steps: time per step of the slowest rank. Bytes
// are those that all ranks send in a step, whole turns in the mean (lines of the variant's name with ", bytes"), or of
// objects (cases "bytes of ..."). At the end all fluids must be at the same places, bit by bit.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "lj_fluid/simulation.hpp"
#include "lj_fluid/start.hpp"
#include "measure.hpp"
#include "overhead/fields.hpp"
#include "overhead/variants.hpp"
#include "support/mpi/comm.hpp"

namespace {

using namespace lj_fluid;
using overhead::Step;

std::vector<overhead::Variant> variants() {
  std::vector<overhead::Variant> all;
  std::vector<overhead::Variant> (*const boost)() = overhead::boost_variants;
  if (boost != nullptr) all = boost();
  all.push_back(
      {overhead::names[5], overhead::part_by_part<Step::bitwise, overhead::Memory<Step::bitwise>>()});
  all.push_back(
      {overhead::names[6], overhead::part_by_part<Step::reordered, overhead::Memory<Step::reordered>>()});
  all.push_back(
      {overhead::names[7], overhead::part_by_part<Step::compact, overhead::Memory<Step::compact>>()});
  all.push_back({"fields", [](const wherry::Decomposition<3>& decomposition, double reach) {
                   return std::make_unique<overhead::Fields>(decomposition, reach);
                 }});
  all.push_back({"wherry", by_wherry()});
  return all;
}

template <class T>
std::size_t packed(const T& object) {
  return wherry::packed_size(object);
}

std::vector<overhead::Size> sizes() {
  std::vector<overhead::Size> all;
  std::vector<overhead::Size> (*const boost)() = overhead::boost_sizes;
  if (boost != nullptr) all = boost();
  overhead::add_sizes<Step::bitwise, overhead::Memory<Step::bitwise>>(all);
  overhead::add_sizes<Step::reordered, overhead::Memory<Step::reordered>>(all);
  overhead::add_sizes<Step::compact, overhead::Memory<Step::compact>>(all);
  overhead::Particle<Step::compact> particle;
  particle.bonds = {1, 2, 3, 4}, particle.exclusions = {5, 6};
  all.push_back({"std::array of three ints", "wherry", packed(std::array{4, 5, 6})});
  all.push_back({"vector of three ints", "wherry", packed(overhead::Vector<Step::compact, int, 3>{})});
  all.push_back({"position", "wherry", packed(particle.position)});
  all.push_back({"force", "wherry", packed(particle.force)});
  all.push_back({"properties", "wherry", packed(particle.properties)});
  all.push_back({"particle with 4 bonds and 2 exclusions", "wherry", packed(particle)});
  return all;
}

struct Case {
  int per_rank;
  bool bonded;
  Physics physics;
  double length;
  std::array<int, 3> grid;
};

Case case_of(int per_rank, bool bonded, int ranks) {
  Case made{per_rank, bonded, {}, 0, {}};
  made.physics.bonds = made.physics.exclusions = bonded;
  made.physics.skin = 0.5;
  // The volume fraction is a half: L^3 = N pi / 3.
  made.length = std::cbrt(static_cast<double>(per_rank) * ranks * std::numbers::pi / 3);
  const auto grid = process_grid(ranks, 3, {made.length, made.length, made.length},
                                 made.physics.cutoff + made.physics.skin);
  if (!grid) bench::refuse("there are too few particles for so many ranks; give more");
  made.grid = *grid;
  return made;
}

std::vector<Particle> share(const std::vector<Atom>& atoms, const Physics& physics) {
  std::vector<Particle> mine;
  const auto ranks = static_cast<std::uint64_t>(apps::size_of(MPI_COMM_WORLD));
  for (const Atom& atom : atoms) {
    if (atom.identity % ranks != static_cast<std::uint64_t>(apps::rank_of(MPI_COMM_WORLD))) continue;
    Particle& particle = mine.emplace_back();
    particle.properties.identity = atom.identity;
    particle.position.position = atom.position;
    particle.momentum.velocity = atom.velocity;
    particle.force.force = atom.force;
    if (physics.bonds) particle.bonds = particle.exclusions = {partner_of(atom.identity)};
  }
  return mine;
}

/// On all ranks, in the order of identities.
std::vector<Atom> gathered(const Domain& domain) {
  std::vector<Atom> all;
  for (const std::vector<Atom>& atoms : wherry::allgather_objects(domain.atoms(), MPI_COMM_WORLD))
    all.insert(all.end(), atoms.begin(), atoms.end());
  std::ranges::sort(all, {}, &Atom::identity);
  for (Atom& atom : all) atom.position = domain.decomposition().wrapped(atom.position);
  return all;
}

class Fluid {
 public:
  Fluid(const Case& of, const overhead::Variant& variant, const std::vector<Atom>& atoms, long step)
      : name_(variant.name),
        domain_(MPI_COMM_WORLD, {{}, {of.length, of.length, of.length}, {true, true, true}}, of.grid,
                {of.physics.cutoff, of.physics.skin}, share(atoms, of.physics), variant.make),
        simulation_(domain_, of.physics, step, Simulation::Forces::unknown) {}

  const std::string& name() const { return name_; }
  const Domain& domain() const { return domain_; }
  void relax() {
    simulation_.relax(100, 2000);
    simulation_.settle();
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i)
      if (!simulation_.step(Simulation::Measure::no)) bench::end_with(name_ + ": " + simulation_.problem());
  }
  void measure(int steps) {
    const std::uint64_t before = domain_.transport().sent_bytes();
    seconds_.push_back(bench::time_calls(MPI_COMM_WORLD, 1, [&] { run(steps); }) / steps);
    const std::uint64_t sent = domain_.transport().sent_bytes() - before;
    bytes_.push_back(static_cast<double>(apps::reduced(sent, MPI_SUM, MPI_COMM_WORLD)) / steps);
  }
  void print(const std::string& name) const {
    bench::print(name, name_, seconds_);
    bench::print(name, name_ + ", bytes", bytes_);
  }

 private:
  std::string name_;
  Domain domain_;
  Simulation simulation_;
  std::vector<double> seconds_, bytes_;
};

struct Effort {
  int equilibrate, turns, steps;
};

void run(const Case& of, const Effort& effort) {
  const auto n = static_cast<std::uint64_t>(of.per_rank) * apps::size_of(MPI_COMM_WORLD);
  std::vector<Atom> atoms = placed(n, of.length, 0, 1);
  if (of.bonded) bring_partners_together(atoms, of.length, 1);
  heat(atoms, 1, 1);
  {
    Fluid start(of, {"start", by_wherry()}, atoms, 0);
    start.relax();
    start.run(effort.equilibrate);
    atoms = gathered(start.domain());
  }
  std::vector<std::unique_ptr<Fluid>> fluids;
  for (const overhead::Variant& variant : variants())
    fluids.push_back(std::make_unique<Fluid>(of, variant, atoms, effort.equilibrate));
  for (int turn = 0; turn < effort.turns; ++turn)
    for (std::size_t i = 0; i < fluids.size(); ++i)  // each first, second, ... in its turn
      fluids[(i + static_cast<std::size_t>(turn)) % fluids.size()]->measure(effort.steps);
  const std::vector<Atom> last = gathered(fluids.back()->domain());
  for (const auto& fluid : fluids)
    if (gathered(fluid->domain()) != last) bench::end_with(fluid->name() + ": particles are elsewhere");
  const std::string name = std::to_string(of.per_rank) + " particles" + (of.bonded ? " with exclusions" : "");
  if (apps::rank_of(MPI_COMM_WORLD) == 0)
    for (const auto& fluid : fluids) fluid->print(name);
}

void print_sizes() {
  for (const overhead::Size& size : sizes())
    bench::print("bytes of " + size.object, size.variant, {static_cast<double>(size.bytes)});
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Effort effort{bench::number(argc, argv, "--equilibrate", 500),
                      bench::number(argc, argv, "--turns", 30), bench::number(argc, argv, "--steps", 50)};
  if (apps::rank_of(MPI_COMM_WORLD) == 0) print_sizes();
  for (const int per_rank : bench::numbers(bench::option(argc, argv, "--particles-per-rank", "1000,10000")))
    for (const bool bonded : {false, true})
      run(case_of(per_rank, bonded, apps::size_of(MPI_COMM_WORLD)), effort);
  MPI_Finalize();
}
