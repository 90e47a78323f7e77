// How long do the forces of a Barnes-Hut simulation over all ranks take, with cells read with and without a cache?
//
// The first application of Di Girolamo, Vella and Hoefler (Transparent Caching for RMA Systems, IPDPS 2017).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

#include "barnes_hut/simulation.hpp"
#include "remote/comparison.hpp"
#include "remote/exchange.hpp"
#include "remote/options.hpp"
#include "support/columns.hpp"
#include "support/drawn.hpp"
#include "support/lines.hpp"
#include "support/mpi/application.hpp"
#include "support/output_file.hpp"

namespace {

using namespace barnes_hut;
using Particles = std::vector<Particle>;

struct Settings {
  apps::Common common;
  remote::CacheOptions cache;
  GravityOptions gravity;
  Steps steps;
  int bodies = 10'000;
  std::uint64_t seed = 1;
  std::string file, output;
  apps::Drawn drawn;
  Particles read;  // on rank 0, where a file is given
};

std::vector<apps::Option> options_of(Settings& settings) {
  GravityOptions& gravity = settings.gravity;
  apps::Drawn& drawn = settings.drawn;
  std::vector<apps::Option> options = {
      drawn.option(
          {"--bodies", "N", "bodies of a Plummer sphere (default 10000)",
           [&](const std::string& text) { settings.bodies = apps::whole_number(text, 1, most_bodies); }}),
      drawn.option({"--seed", "N", "other bodies for another number (default 1)",
                    [&](const std::string& text) {
                      settings.seed = static_cast<std::uint64_t>(apps::whole_number(text, 0, 2'147'483'647));
                    }}),
      {"--file", "FILE", "bodies from a file instead, with lines of: mass x y z vx vy vz",
       [&](const std::string& text) { settings.file = text; }},
      {"--theta", "X",
       "largest edge over distance of a cell that acts as a whole; 0: none does (default 0.5)",
       [&](const std::string& text) { gravity.walk.theta = apps::real_number(text, 0, 2); }},
      {"--softening", "X", "length that is added in quadrature to all distances (default 0)",
       [&](const std::string& text) { gravity.softening = apps::real_number(text, 0, 1e100); }},
      {"--steps", "N", "steps of each run (default 2); 0: only the forces at the start",
       [&](const std::string& text) { settings.steps.count = apps::whole_number(text, 0, 1'000'000); }},
      {"--time-step", "X", "time of a step (default 0.0078125)",
       [&](const std::string& text) { settings.steps.time = apps::real_number(text, 0, 1e100); }},
      {"--leaf", "N", "most bodies of a leaf (default 16)",
       [&](const std::string& text) { gravity.tree.leaf = apps::whole_number(text, 1, 1 << 16); }},
      {"--group", "N", "most bodies for which the tree is walked together (default 64)",
       [&](const std::string& text) { gravity.tree.group = apps::whole_number(text, 1, 1 << 16); }},
      {"--subtree", "N",
       "most bodies of a subtree that is read by one get of cells and one of bodies (default 128)",
       [&](const std::string& text) { gravity.walk.subtree = apps::whole_number(text, 0, 1 << 20); }},
      {"--output", "FILE", "write places, velocities, accelerations and potentials to FILE at the end",
       [&](const std::string& text) { settings.output = text; }},
  };
  std::ranges::move(remote::options(settings.cache, settings.common), std::back_inserter(options));
  return options;
}

/// Reads the bodies on rank 0, which alone says what is wrong with them.
void validate(Settings& settings, int) {
  remote::check(settings.cache);
  settings.drawn.check("--file", settings.file);
  const TreeOptions& tree = settings.gravity.tree;
  if (tree.group < tree.leaf)
    throw apps::usage_error("--group: " + std::to_string(tree.group) + " is less than a leaf's " +
                            std::to_string(tree.leaf) + " bodies; write --leaf " +
                            std::to_string(tree.group));
  if (apps::rank_of(MPI_COMM_WORLD) != 0) return;
  apps::check_writable({{"--output", settings.output}, {"--json", settings.common.json}},
                       {"--file", settings.file});
  if (settings.file.empty()) return;
  settings.read = parse_bodies(settings.file, apps::read_whole(settings.file));
  if (settings.read.empty()) throw apps::input_error(settings.file + ": there are no bodies in it");
}

Particles start(const Settings& settings, MPI_Comm comm) {
  if (!settings.file.empty()) return settings.read;
  const auto all = static_cast<std::uint64_t>(settings.bodies);
  const auto rank = static_cast<std::uint64_t>(apps::rank_of(comm));
  const auto ranks = static_cast<std::uint64_t>(apps::size_of(comm));
  const std::uint64_t first = all * rank / ranks, end = all * (rank + 1) / ranks;
  return plummer(settings.seed, first, end - first, all);
}

void write(const std::string& path, const Particles& particles) {
  std::string text = "# mass x y z vx vy vz ax ay az potential\n";
  char line[400];
  for (const auto& [body, vx, vy, vz, ax, ay, az, potential, id] : particles) {
    std::snprintf(line, sizeof line, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
                  body.mass, body.x, body.y, body.z, vx, vy, vz, ax, ay, az, potential);
    text += line;
  }
  apps::write_whole(path, text);
}

/// Writes all ranks' particles, in their own order, on rank 0. Collective.
void output(const std::string& path, const Particles& mine, MPI_Comm comm) {
  Particles all = remote::gathered(mine, comm);
  std::ranges::sort(all, {}, &Particle::id);
  if (apps::rank_of(comm) == 0) write(path, all);
}

std::string scientific(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

constexpr const char* overflowed =
    "the numbers overflowed: bodies moved too far or too fast to compute with; "
    "choose a smaller --time-step, or other units";

/// Far above what cells that are opened as they should be are off by.
double largest_error(double theta) { return std::max(1e-10, 0.02 * theta * theta); }

/// Collective.
bool finite(const Run& run, double error, MPI_Comm comm) {
  const bool sums =
      std::isfinite(run.before.energy()) && std::isfinite(run.after.energy()) && !std::isnan(error);
  return apps::on_all(sums && std::ranges::all_of(run.particles, is_finite), comm);
}

std::string problem_of(double error, double theta) {
  return error <= largest_error(theta) ? "" : "forces differ from direct sums by " + scientific(error);
}

std::string energy_change(const Run& run) {
  const double change = run.after.energy() - run.before.energy(), size = std::abs(run.before.energy());
  if (!std::isfinite(change)) return "overflowed";
  return "changed by " + (size > 0 ? scientific(change / size) : scientific(change) + " from 0");
}

std::string head(const Settings& settings, std::uint64_t bodies, const Run& run) {
  const auto steps = static_cast<std::uint64_t>(settings.steps.count);
  return "Barnes-Hut, " + apps::counted(bodies, "body", "bodies") + ", theta " +
         scientific(settings.gravity.walk.theta) + ", " + apps::counted(steps, "step", "steps") +
         "; energy " + energy_change(run);
}

std::string speeds(std::uint64_t bodies, const std::vector<apps::Measurement>& measurements) {
  const std::vector<double>& plain_s = measurements.front().plain_s;
  if (plain_s.empty()) return "";
  const double time_s = apps::median(plain_s);
  // On a simulated machine computing takes no time.
  const std::string speed =
      time_s > 0 ? apps::fixed(static_cast<double>(bodies) / time_s, 0) + " forces/s" : "forces took no time";
  return "plain MPI: " + speed + " with kernel " + best_kernel().name + "\n";
}

apps::Results work(const Settings& settings, MPI_Comm comm, apps::Progress& progress) {
  const Particles begin = start(settings, comm);
  const std::uint64_t bodies = apps::reduced(std::uint64_t{begin.size()}, MPI_SUM, comm);
  remote::Comparison comparison(comm, settings.cache);
  std::optional<Run> first;
  bool agree = true;
  for (int i = 0; i < settings.common.turns; ++i) {
    progress.show("simulating", i, settings.common.turns);
    comparison.turn(i, [&](const remote::Variant& variant, apps::Timings& timings) {
      Gravity gravity(comm, settings.gravity, variant, settings.cache);
      Run run = simulate(comm, begin, settings.steps, gravity, timings);
      const remote::Statistics statistics = run.statistics;
      if (!first) first = std::move(run);
      else agree &= run == *first;
      return statistics;
    });
  }
  const double error = force_error(comm, first->particles, settings.gravity.softening);
  std::string wrong = problem_of(error, settings.gravity.walk.theta);
  if (!apps::on_all(agree, comm)) wrong = "two runs from the same start differ";
  // First of all: what is not a number differs from itself.
  if (!finite(*first, error, comm)) wrong = overflowed;
  if (wrong.empty() && !settings.output.empty()) output(settings.output, first->particles, comm);
  const std::vector<apps::Measurement> measurements =
      comparison.measurements(apps::counted(bodies, "body", "bodies"), "forces");
  return {.head = head(settings, bodies, *first),
          .measurements = measurements,
          .wrong = wrong,
          .right = "all runs came to the same, bit by bit; forces differ from direct sums by " +
                   scientific(error) + " (root mean square)",
          .side = "cached",
          .more = comparison.table() + speeds(bodies, measurements)};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const apps::Application application = {
      .manual =
          {.program = "barnes_hut",
           .summary =
               "Moves bodies that attract each other by a tree that lies on all ranks, with one-sided gets "
               "of its\n"
               "cells: by plain MPI and through caches, in turns. Checks the result and prints how long "
               "the forces take.",
           .examples =
               {"mpiexec -n 8 barnes_hut",
                "mpiexec -n 8 barnes_hut --bodies 64000 --theta 0.7 --cache-kib 1024 --json bodies.json",
                "mpiexec -n 4 barnes_hut --file galaxy.txt --softening 0.01 --output end.txt"}},
      .options = options_of(settings),
      .common = settings.common,
      .validate = [&](int ranks) { validate(settings, ranks); },
      .work = [&](MPI_Comm comm, apps::Progress& progress) { return work(settings, comm, progress); },
  };
  return apps::run(argc, argv, application);
}
