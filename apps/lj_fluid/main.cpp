// How fast does a Lennard-Jones fluid move whose particles are exchanged by Wherry's headers?
#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>

#include "lj_fluid/outputs.hpp"
#include "lj_fluid/settings.hpp"
#include "lj_fluid/simulation.hpp"
#include "lj_fluid/start.hpp"
#include "support/columns.hpp"
#include "support/mix.hpp"
#include "support/mpi/application.hpp"
#include "support/mpi/comm.hpp"
#include "support/output_file.hpp"

namespace {

using namespace lj_fluid;

/// Forces of a start at random places fall below this.
constexpr double relaxed_force = 100;
constexpr int most_relaxing_steps = 2000;

/// The box as a file has it, so that a run that goes on has the same bits.
void round_box(Configuration& all) {
  for (std::size_t i = 0; i < 3; ++i) all.upper[i] = all.lower[i] + (all.upper[i] - all.lower[i]);
}

Configuration start_of(const Settings& settings, int ranks) {
  const std::string& file = settings.restart.empty() ? settings.input : settings.restart;
  Configuration all = file.empty() ? drawn_configuration(settings, ranks) : read_configuration(file);
  if (!settings.restart.empty() && !all.state)
    throw apps::usage_error(file +
                            ": it does not say where a run was; take a file that --output wrote, or --input");
  if (settings.restart.empty()) all.state.reset(), all.has_forces = false;
  if (!all.has_velocities) heat(all.atoms, physics_of(settings).temperature, physics_of(settings).seed);
  all.has_velocities = true;
  round_box(all);
  return all;
}

Physics physics_for(const Settings& settings, const Configuration& start) {
  return start.state ? start.state->physics : physics_of(settings);
}

Vector lengths_of(const Configuration& all) {
  return {all.upper[0] - all.lower[0], all.upper[1] - all.lower[1], all.upper[2] - all.lower[2]};
}

/// On the first rank the particles to begin with.
Configuration validate(const Settings& settings, int ranks) {
  check(settings);
  if (apps::rank_of(MPI_COMM_WORLD) != 0) return {};
  Configuration start = start_of(settings, ranks);
  grid_for(settings, physics_for(settings, start), lengths_of(start), ranks);
  const apps::NamedFile input = settings.restart.empty() ? apps::NamedFile{"--input", settings.input}
                                                         : apps::NamedFile{"--restart", settings.restart};
  const apps::NamedFile trajectory{"--trajectory", settings.trajectory},
      energies{"--energies", settings.energies}, picture{"--picture", settings.picture},
      json{"--json", settings.common.json};
  // A run may go on in the file that it began from; nothing else may replace that.
  apps::check_writable({trajectory, energies, picture, json}, input);
  apps::check_writable({{"--output", settings.output}, trajectory, energies, picture, json});
  return start;
}

Particle particle_of(const Atom& atom, const Physics& physics, bool has_partner) {
  Particle particle;
  particle.properties.identity = atom.identity;
  particle.position.position = atom.position;
  particle.momentum.velocity = atom.velocity;
  particle.force.force = atom.force;
  const std::uint64_t partner = partner_of(atom.identity);
  if (has_partner && physics.bonds) particle.bonds = {partner};
  if (has_partner && physics.exclusions) particle.exclusions = {partner};
  return particle;
}

/// Part of the particles; where they are does not matter. Collective.
std::vector<Particle> share(Configuration& start, const Settings& settings, MPI_Comm comm) {
  wherry::bcast_object(start, 0, comm);
  const auto rank = static_cast<std::size_t>(apps::rank_of(comm)),
             ranks = static_cast<std::size_t>(apps::size_of(comm)), n = start.atoms.size();
  std::unordered_set<std::uint64_t> all;
  for (const Atom& atom : start.atoms) all.insert(atom.identity);
  std::vector<Particle> mine;
  for (const Atom& atom :
       std::span(start.atoms).subspan(rank * n / ranks, (rank + 1) * n / ranks - rank * n / ranks))
    mine.push_back(particle_of(atom, physics_for(settings, start), all.contains(partner_of(atom.identity))));
  start.atoms.clear();
  return mine;
}

/// The mean of what was measured.
struct Means {
  std::size_t count = 0;
  double temperature = 0, potential = 0, pressure = 0;
  void add(const Thermodynamics& now) {
    ++count, temperature += now.temperature, potential += now.potential, pressure += now.pressure;
  }
  double of(double sum) const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

class Run {
 public:
  Run(MPI_Comm comm, const Settings& settings, Configuration start, std::vector<Particle> particles)
      : comm_(comm),
        settings_(settings),
        start_(std::move(start)),
        physics_(physics_for(settings, start_)),
        count_(apps::reduced(static_cast<std::uint64_t>(particles.size()), MPI_SUM, comm)),
        domain_(comm, {start_.lower, start_.upper, {true, true, true}},
                grid_for(settings, physics_, lengths_of(start_), apps::size_of(comm)),
                {physics_.cutoff, physics_.skin}, std::move(particles),
                by_wherry(static_cast<wherry::Route>(settings.route))),
        simulation_(domain_, physics_, start_.state ? start_.state->step : 0,
                    start_.has_forces ? Simulation::Forces::known : Simulation::Forces::unknown),
        trajectory_(first() ? settings.trajectory : "", ""),
        energies_(first() ? settings.energies : "", energies_head),
        identities_(sum_of_identities()) {}

  apps::Results work(apps::Progress& progress) {
    begin();
    run(settings_.equilibrate, "equilibrating", progress, [] {});
    before_ = simulation_.rebuilds(), recording_s_ = 0, recording_parts_ = {};
    const Parts communicated = communication();
    const double start = MPI_Wtime();
    run(settings_.steps, "timesteps", progress, [&] { record(); });
    if (wrong_.empty()) wrong_ = simulation_.problem();
    const Parts now = communication();
    for (std::size_t i = 0; i < now.size(); ++i)
      communication_s_[i] = now[i] - communicated[i] - recording_parts_[i];
    total_s_ = MPI_Wtime() - start - recording_s_;
    if (wrong_.empty()) wrong_ = lost();
    if (wrong_.empty() && last_restart_ != simulation_.steps_done()) write_restart();
    if (wrong_.empty()) draw();
    if (!wrong_.empty() && last_restart_ >= 0)
      wrong_ += "; '" + settings_.output + "' has step " + std::to_string(last_restart_);
    return {
        .head = head(), .measurements = {measurement()}, .wrong = wrong_, .right = right(), .more = more()};
  }

 private:
  using Parts = std::array<double, 5>;  // seconds: migrating, rebuilding, updating, returning, agreeing
  static constexpr std::array<const char*, 5> part_names = {"migrate_share", "rebuild_share", "update_share",
                                                            "return_share", "agree_share"};
  Parts communication() const {
    const Domain::Times& t = domain_.times();
    return {t.migrate_s, t.rebuild_s, t.update_s, t.return_s, simulation_.agreement_s()};
  }

  bool first() const { return apps::rank_of(comm_) == 0; }

  void begin() {
    const bool relaxes =
        settings_.relax && !start_.state && settings_.input.empty() && !fluids()[settings_.fluid].lattice;
    if (relaxes) relaxation_ = simulation_.relax(relaxed_force, most_relaxing_steps);
    if (relaxes) simulation_.settle();
    wrong_ = simulation_.problem();
    if (wrong_.empty() && !start_.state) record();
  }

  /// Until something is wrong.
  template <class Record>
  void run(int steps, const char* what, apps::Progress& progress, Record record) {
    for (int done = 0; done < steps && wrong_.empty(); ++done) {
      progress.show(what, done, steps);
      const bool due = (done + 1) % settings_.every == 0;
      const double start = MPI_Wtime();
      if (!simulation_.step(due ? Simulation::Measure::yes : Simulation::Measure::no))
        wrong_ = simulation_.problem();
      if (what[0] == 't') step_s_.push_back(MPI_Wtime() - start);
      if (due && wrong_.empty()) record();
    }
  }

  /// What it takes is no part of the steps; nor is what it communicates.
  void record() {
    const double start = MPI_Wtime();
    const Parts before = communication();
    write_record();
    const Parts now = communication();
    for (std::size_t i = 0; i < now.size(); ++i) recording_parts_[i] += now[i] - before[i];
    recording_s_ += MPI_Wtime() - start;
  }

  void write_record() {
    wrong_ = simulation_.problem();
    if (!wrong_.empty()) return;
    const Thermodynamics now = simulation_.measured();
    if (!step_s_.empty()) means_.add(now);
    energies_.add(energies_line(now, physics_.dt));
    if (!settings_.trajectory.empty()) {
      const Configuration frame = gathered(false);
      if (first()) trajectory_.add(xyz_text(frame));
    }
    if (!step_s_.empty()) write_restart();
  }

  /// All particles on the first rank, in the order of identities.
  Configuration gathered(bool with_state) const {
    Configuration all;
    all.lower = start_.lower, all.upper = start_.upper, all.has_velocities = true;
    for (const std::vector<Atom>& atoms : wherry::gather_objects(domain_.atoms(), 0, comm_))
      all.atoms.insert(all.atoms.end(), atoms.begin(), atoms.end());
    std::ranges::sort(all.atoms, {}, &Atom::identity);
    // Where forces were computed, a particle may have left the box since the last rebuild.
    for (Atom& atom : all.atoms) atom.position = domain_.decomposition().wrapped(atom.position);
    if (with_state) all.state = RunState{simulation_.steps_done(), physics_}, all.has_forces = true;
    return all;
  }

  void write_restart() {
    if (settings_.output.empty()) return;
    simulation_.settle();
    const Configuration all = gathered(true);
    if (first()) apps::write_whole(settings_.output, xyz_text(all));
    last_restart_ = simulation_.steps_done();
  }

  void draw() const {
    if (settings_.picture.empty()) return;
    const Configuration all = gathered(false);
    if (first()) apps::write_whole(settings_.picture, picture_svg(all));
  }

  /// The same for the same particles, wherever they are. Collective.
  std::uint64_t sum_of_identities() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t identity : domain_.identities()) sum += apps::mix(identity);
    return apps::reduced(sum, MPI_SUM, comm_);
  }

  /// Whether particles were lost or doubled.
  std::string lost() const {
    const auto now = apps::reduced(static_cast<std::uint64_t>(domain_.size()), MPI_SUM, comm_);
    return now == count_ && sum_of_identities() == identities_ ? "" : "particles were lost or doubled";
  }

  std::string head() const {
    std::string text = std::to_string(count_) + " particles, cutoff " + apps::fixed(physics_.cutoff, 4) +
                       ", skin " + apps::fixed(physics_.skin, 2) + ", dt " + apps::fixed(physics_.dt, 4) +
                       (physics_.langevin ? ", Langevin thermostat" : ", constant energy");
    const auto& grid = domain_.decomposition().grid();
    text += "; domains " + std::to_string(grid[0]) + " x " + std::to_string(grid[1]) + " x " +
            std::to_string(grid[2]);
    if (relaxation_.steps > 0)
      text += "\nrelaxed in " + std::to_string(relaxation_.steps) + " steps to a largest force of " +
              apps::fixed(relaxation_.largest_force, 1);
    return text;
  }

  std::string more() const {
    if (means_.count == 0) return "";
    return "mean of " + std::to_string(means_.count) + " measurements: temperature " +
           apps::fixed(means_.of(means_.temperature), 4) + ", potential energy " +
           apps::fixed(means_.of(means_.potential), 4) + ", pressure " +
           apps::fixed(means_.of(means_.pressure), 4) + "\n";
  }

  std::string right() const { return "every particle is there once, and every force is a number"; }

  std::vector<double> slowest() const { return apps::reduced(step_s_, MPI_MAX, comm_); }

  /// Collective.
  apps::Measurement measurement() const {
    const double steps = std::max(settings_.steps, 1), ranks = apps::size_of(comm_);
    const double total_s = apps::reduced(total_s_, MPI_MAX, comm_);
    const auto ghosts = apps::reduced(static_cast<std::uint64_t>(domain_.ghosts()), MPI_SUM, comm_);
    const auto listed = apps::reduced(static_cast<std::uint64_t>(domain_.listed()), MPI_SUM, comm_);
    Parts parts{};
    MPI_Allreduce(communication_s_.data(), parts.data(), static_cast<int>(parts.size()), MPI_DOUBLE, MPI_SUM,
                  comm_);
    for (double& part : parts) part /= ranks * total_s;
    apps::Measurement all{
        .name = std::to_string(count_) + " particles",
        .metric = "timestep",
        .message_bytes = 0,
        .plain_s = {},
        .wherry_s = slowest(),
        .strategies = {},
        .figures = {{"particles", static_cast<double>(count_)},
                    {"steps_per_s", steps / total_s},
                    {"atom_steps_per_s_per_rank", steps * static_cast<double>(count_) / total_s / ranks},
                    {"communication_share", std::accumulate(parts.begin(), parts.end(), 0.0)},
                    {"rebuilds", static_cast<double>(simulation_.rebuilds() - before_)},
                    {"ghosts", static_cast<double>(ghosts)},
                    {"listed_pairs", static_cast<double>(listed)}}};
    for (std::size_t i = 0; i < parts.size(); ++i) all.figures.emplace_back(part_names[i], parts[i]);
    return all;
  }

  MPI_Comm comm_;
  const Settings& settings_;
  Configuration start_;
  Physics physics_;
  std::uint64_t count_;
  Domain domain_;
  Simulation simulation_;
  GrowingFile trajectory_, energies_;
  std::uint64_t identities_;
  Relaxation relaxation_;
  Means means_;
  std::string wrong_;
  long before_ = 0, last_restart_ = -1;
  Parts communication_s_{}, recording_parts_{};
  double total_s_ = 0, recording_s_ = 0;
  std::vector<double> step_s_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  Configuration start;
  const apps::Application application = {
      .manual = {.program = "lj_fluid",
                 .summary =
                     "Moves a fluid of Lennard-Jones particles, whose ghosts and migrations Wherry's headers "
                     "exchange, and prints\nhow long the steps take.",
                 .examples = {"mpiexec -n 2 lj_fluid --particles-per-rank 10000 --equilibrate 1000",
                              "mpiexec -n 2 lj_fluid --fluid melt --energies melt.csv --trajectory melt.xyz",
                              "mpiexec -n 2 lj_fluid --output run.xyz --steps 10000",
                              "mpiexec -n 2 lj_fluid --restart run.xyz --output run.xyz --steps 10000",
                              "mpiexec -n 1 lj_fluid --input data.lmp --cutoff 2.5 --thermostat none"}},
      .options = options_of(settings),
      .common = settings.common,
      .validate = [&](int ranks) { start = validate(settings, ranks); },
      .work =
          [&](MPI_Comm comm, apps::Progress& progress) {
            std::vector<Particle> particles = share(start, settings, comm);
            return Run(comm, settings, std::move(start), std::move(particles)).work(progress);
          },
  };
  return apps::run(argc, argv, application);
}
