#include "lj_fluid/settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lj_fluid/start.hpp"
#include "support/columns.hpp"

namespace lj_fluid {
namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr int default_per_rank = 1000;

apps::Option number(const char* name, const char* meaning, std::optional<double>& to, double least,
                    double greatest) {
  return {name, "X", meaning,
          [&to, least, greatest](const std::string& text) { to = apps::real_number(text, least, greatest); }};
}
apps::Option count(const char* name, const char* meaning, std::optional<int>& to, int least, int greatest) {
  return {name, "N", meaning, [&to, least, greatest](const std::string& text) {
            to = apps::whole_number(text, least, greatest);
          }};
}
apps::Option count(const char* name, const char* meaning, int& to, int least, int greatest) {
  return {name, "N", meaning, [&to, least, greatest](const std::string& text) {
            to = apps::whole_number(text, least, greatest);
          }};
}
apps::Option file(const char* name, const char* meaning, std::string& to) {
  return {name, "FILE", meaning, [&to](const std::string& text) {
            if (text.empty()) throw apps::usage_error("the name of the file is empty");
            to = text;
          }};
}
apps::Option choice(const char* name, const char* meaning, std::optional<bool>& to,
                    std::vector<std::string> words) {
  return {name, "WORD", meaning,
          [&to, words](const std::string& text) { to = apps::one_of(text, words) == 0; }};
}

std::vector<std::string> fluid_names() {
  std::vector<std::string> names;
  for (const Fluid& fluid : fluids()) names.push_back(fluid.name);
  return names;
}

apps::Option fluid_option(Settings& s) {
  std::string meaning = "what moves (default wca)";
  for (const Fluid& fluid : fluids()) meaning += "\n      " + fluid.name + ": " + fluid.meaning;
  return {"--fluid", "NAME", meaning,
          [&s](const std::string& text) { s.fluid = apps::one_of(text, fluid_names()); }};
}

/// How many particles are asked for.
std::uint64_t particles_of(const Settings& s, int ranks) {
  const auto all_ranks = static_cast<std::uint64_t>(ranks);
  if (s.particles) return static_cast<std::uint64_t>(*s.particles);
  if (s.particles_per_rank) return static_cast<std::uint64_t>(*s.particles_per_rank) * all_ranks;
  const int usual = fluids()[s.fluid].particles;
  return usual > 0 ? static_cast<std::uint64_t>(usual) : default_per_rank * all_ranks;
}

/// Of the lattice nearest to this number.
int lattice_cells(std::uint64_t particles) {
  return std::max(1, static_cast<int>(std::lround(std::cbrt(static_cast<double>(particles) / 4))));
}

}  // namespace

const std::vector<Fluid>& fluids() {
  static const std::vector<Fluid> all = {
      {"wca", "repulsive particles with a thermostat, at random places in half of the volume",
       3 / std::numbers::pi, false, 0, Physics{}},
      {"melt", "the melting lattice of LAMMPS's benchmark: 32,000 particles, cutoff 2.5, no thermostat",
       0.8442, true, 32000,
       Physics{.cutoff = 2.5,
               .shifted = false,
               .dt = 0.005,
               .langevin = false,
               .temperature = 1.44,
               .skin = 0.3}}};
  return all;
}

std::vector<apps::Option> options_of(Settings& s) {
  const auto drawn = [&s](apps::Option option) { return s.drawn.option(std::move(option)); };
  const auto fixed = [&s](apps::Option option) {
    option.set = [&s, name = option.name, set = std::move(option.set)](const std::string& text) {
      set(text);
      s.physics_option = name;
    };
    return option;
  };
  std::vector<apps::Option> options = {
      fixed(fluid_option(s)),
      drawn(count("--particles",
                  "how many (default 1000 per rank; melt 32000; of a lattice the nearest number)",
                  s.particles, 2, 100'000'000)),
      drawn(count("--particles-per-rank", "the same for each rank", s.particles_per_rank, 2, 10'000'000)),
      drawn(number("--density", "particles in a unit of volume (default 3/pi; melt 0.8442)", s.density, 1e-6,
                   10)),
      file("--input", "begin with the particles of a file: LAMMPS's data, or extended XYZ if it ends in .xyz",
           s.input),
      file("--restart", "go on where the run was that wrote FILE with --output", s.restart),
      {"--no-relax", "", "begin as particles lie, without steepest descent",
       [&s](const std::string&) { s.relax = false; }},
      fixed(number("--cutoff", "of the potential (default 2^(1/6); melt 2.5)", s.cutoff, 0.1, 100)),
      fixed(choice("--energies-at-cutoff", "shifted to zero, or kept (default shifted; melt kept)", s.shifted,
                   {"shifted", "kept"})),
      fixed(number("--skin", "what neighbor lists reach beyond the cutoff (default 0.4; melt 0.3)", s.skin,
                   0.01, 100)),
      fixed(number("--dt", "length of a step (default 0.01; melt 0.005)", s.dt, 1e-9, 1)),
      fixed(choice("--thermostat", "langevin or none (default langevin; melt none)", s.langevin,
                   {"langevin", "none"})),
      fixed(number("--temperature", "of the thermostat and to begin with (default 1; melt 1.44)",
                   s.temperature, 0, 1e6)),
      fixed(number("--gamma", "friction of the thermostat (default 1)", s.gamma, 0, 1e6)),
      fixed(count("--seed", "of all that is drawn (default 1)", s.seed, 0, most)),
      fixed({"--bonds", "", "harmonic bonds between particles 1 and 2, 3 and 4, and so on",
             [&s](const std::string&) { s.bonds = true; }}),
      fixed({"--exclusions", "", "these pairs do not repel each other",
             [&s](const std::string&) { s.exclusions = true; }}),
      count("--dimensions", "the box is cut in at most so many (default 3)", s.dimensions, 1, 3),
      {"--route", "WORD",
       "how ghosts of diagonal neighbors travel: direct, staged, or measured, the faster one (default "
       "direct)",
       [&s](const std::string& text) { s.route = apps::one_of(text, routes); }},
      count("--steps", "steps in time (default 1000)", s.steps, 0, most),
      count("--equilibrate", "steps before them, neither timed nor measured (default 0)", s.equilibrate, 0,
            most),
      count("--every", "steps between measurements, frames and restart files (default 100)", s.every, 1,
            most),
      file("--output",
           "write all that a run needs to go on, whole or not at all: every --every steps, and at the end",
           s.output),
      file("--trajectory", "write positions and velocities as extended XYZ, which OVITO and VMD open",
           s.trajectory),
      file("--picture", "draw the particles at the end as SVG, in the colours of their speeds", s.picture),
      file("--energies", "write energies, temperature and pressure as CSV", s.energies),
  };
  for (apps::Option& option : apps::common_options(s.common))
    // A simulation has steps, not turns, and nothing is trained.
    if (option.name != "--turns" && option.name != "--train") options.push_back(std::move(option));
  return options;
}

Physics physics_of(const Settings& s) {
  Physics p = fluids()[s.fluid].physics;
  p.cutoff = s.cutoff.value_or(p.cutoff), p.shifted = s.shifted.value_or(p.shifted);
  p.skin = s.skin.value_or(p.skin), p.dt = s.dt.value_or(p.dt);
  p.langevin = s.langevin.value_or(p.langevin);
  p.temperature = s.temperature.value_or(p.temperature), p.gamma = s.gamma.value_or(p.gamma);
  p.seed = static_cast<std::uint64_t>(s.seed.value_or(static_cast<int>(p.seed)));
  p.bonds = s.bonds, p.exclusions = s.exclusions;
  return p;
}

Configuration drawn_configuration(const Settings& s, int ranks) {
  const Fluid& fluid = fluids()[s.fluid];
  std::uint64_t particles = particles_of(s, ranks);
  const int cells = fluid.lattice ? lattice_cells(particles) : 0;
  if (fluid.lattice) particles = places_of({cells, 1});
  const double density = s.density.value_or(fluid.density);
  const double length = std::cbrt(static_cast<double>(particles) / density);
  Configuration all;
  all.upper = {length, length, length};
  all.atoms = placed(particles, length, cells, physics_of(s).seed);
  if (s.bonds && !fluid.lattice) bring_partners_together(all.atoms, length, physics_of(s).seed);
  return all;
}

void check(const Settings& s) {
  if (!s.input.empty() && !s.restart.empty())
    throw apps::usage_error("--input and --restart are both given; write one of them");
  s.drawn.check("--input", s.input);
  s.drawn.check("--restart", s.restart);
  if (!s.physics_option.empty() && !s.restart.empty())
    throw apps::usage_error(
        s.physics_option +
        " is given, but a run goes on as it began; leave it out, or begin anew from these "
        "particles with --input");
  if (s.particles && s.particles_per_rank)
    throw apps::usage_error("--particles and --particles-per-rank are both given; write one of them");
}

std::array<int, 3> grid_for(const Settings& s, const Physics& physics, const Vector& lengths, int ranks) {
  const double width = physics.cutoff + physics.skin;
  if (const auto grid = process_grid(ranks, s.dimensions, lengths, width)) return *grid;
  const int fewer = most_domains(ranks, s.dimensions, lengths, width);
  const std::string problem = "a box of " + apps::fixed(lengths[0], 2) + " x " + apps::fixed(lengths[1], 2) +
                              " x " + apps::fixed(lengths[2], 2) + " has no room for " +
                              apps::counted(static_cast<std::uint64_t>(ranks), "domain", "domains") +
                              ", each at least as wide as cutoff and skin, " + apps::fixed(width, 2);
  throw apps::usage_error(
      problem + (fewer > 0 ? "; start " + apps::counted(static_cast<std::uint64_t>(fewer), "rank", "ranks") +
                                 ", give more particles, or allow more --dimensions"
                           : "; give more particles, or a shorter cutoff or skin"));
}

}  // namespace lj_fluid
