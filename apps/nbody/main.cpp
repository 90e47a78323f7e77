// How fast do bodies that pull each other move with plain MPI and with Wherry, by each scheme that divides the work?
#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>

#include "nbody/automatic.hpp"
#include "nbody/binding.hpp"
#include "nbody/film.hpp"
#include "nbody/settings.hpp"
#include "nbody/simulation.hpp"
#include "nbody/trace.hpp"
#include "support/mpi/application.hpp"
#include "support/mpi/comm.hpp"
#include "support/output_file.hpp"

namespace {

using namespace nbody;

constexpr int steps_between_checks = 16;
constexpr int most_traced_steps = 16;

std::vector<std::string> scheme_names() {
  std::vector<std::string> names = {"auto"};
  for (const SchemeRow& row : schemes()) names.push_back(row.name);
  return names;
}

apps::Option scheme_option(Settings& settings) {
  std::string meaning = "how ranks divide the work (default auto)\n      auto: the best of a short trial";
  for (const SchemeRow& row : schemes()) meaning += "\n      " + row.name + ": " + row.meaning;
  return {"--scheme", "NAME", meaning, [&settings](const std::string& text) {
            const std::size_t number = apps::one_of(text, scheme_names());
            settings.scheme = number == 0 ? std::nullopt : std::optional(number - 1);
          }};
}

/// Of a simulated machine.
std::vector<apps::Option> compute_rate_options(ComputeRate& compute_rate) {
  return {
      {"--pairs-per-s", "RATE", "pairs of bodies that a rank computes in a simulated second (default 1.5e9)",
       [&compute_rate](const std::string& text) {
         compute_rate.pairs_per_s = apps::real_number(text, 1, 1e18);
       }},
      {"--pretend", "", "let pairs take time, but do not compute them: results are not checked",
       [&compute_rate](const std::string&) { compute_rate.pretended = true; }}};
}

/// On the first rank the bodies to begin with.
std::optional<Snapshot> validate(const Settings& settings, int ranks) {
  check(settings);
  if (settings.reproducible && settings.scheme && !schemes()[*settings.scheme].reproducible)
    throw apps::usage_error("--reproducible: the scheme " + schemes()[*settings.scheme].name +
                            " adds in an order that depends on the ranks; write --scheme allgather");
  if (apps::rank_of(MPI_COMM_WORLD) != 0) return std::nullopt;
  Snapshot start = start_of(settings);
  const std::size_t bodies = start.bodies.size();
  if (bodies < 2) throw apps::usage_error("a single body has nothing that pulls it; give two or more");
  if (bodies > most_bodies)
    throw apps::usage_error(std::to_string(bodies) + " bodies; give at most " + std::to_string(most_bodies));
  if (bodies < static_cast<std::size_t>(ranks))
    throw apps::usage_error(std::to_string(bodies) + " bodies for " + std::to_string(ranks) +
                            " ranks; start at most as many ranks as there are bodies");
  // A run may go on in the file that it began from; nothing else may replace that.
  const apps::NamedFile input = settings.restart.empty() ? apps::NamedFile{"--input", settings.input}
                                                         : apps::NamedFile{"--restart", settings.restart};
  apps::check_writable(
      {{"--film", settings.film}, {"--trace", settings.trace}, {"--json", settings.common.json}}, input);
  apps::check_writable({{"--output", settings.output},
                        {"--film", settings.film},
                        {"--trace", settings.trace},
                        {"--json", settings.common.json}});
  return start;
}

RunState broadcast_state(const RunState& mine, MPI_Comm comm) {
  RunState state = mine;
  MPI_Bcast(&state.step, 1, MPI_LONG, 0, comm);
  MPI_Bcast(&state.dt, 1, MPI_DOUBLE, 0, comm);
  MPI_Bcast(&state.eps, 1, MPI_DOUBLE, 0, comm);
  int integrator = 0;
  for (std::size_t i = 0; i < integrators().size(); ++i)
    if (integrators()[i].name == mine.integrator) integrator = static_cast<int>(i);
  MPI_Bcast(&integrator, 1, MPI_INT, 0, comm);
  state.integrator = integrators()[static_cast<std::size_t>(integrator)].name;
  return state;
}

const Integrator& integrator_of(const RunState& state) {
  return *std::ranges::find(integrators(), state.integrator, &Integrator::name);
}

/// The two sides that make exchanges.
struct Sides {
  explicit Sides(With with) : with_(with) {}
  /// Of a step by its number in the whole run, so that a run that goes on takes the same turns.
  std::size_t of(long step) const {
    if (with_ == With::turns) return static_cast<std::size_t>(step % 2);
    return with_ == With::mpi ? 0 : 1;
  }
  const Exchanges& exchanges(long step) const { return of(step) == 0 ? plain_mpi : wherrys; }
  StepTimes& times(long step) { return times_[of(step)]; }
  const StepTimes& plain() const { return times_[0]; }
  const StepTimes& wherry() const { return times_[1]; }

 private:
  With with_;
  std::array<StepTimes, 2> times_;
};

/// Collective.
Sharing sharing_of(MPI_Comm comm) {
  const int rank = apps::rank_of(comm);
  const auto processors = static_cast<int>(std::hash<std::string>()(allowed_processors()) & INT_MAX);
  MPI_Comm node = apps::node_of(comm), alike = MPI_COMM_NULL;
  MPI_Comm_split(node, processors, rank, &alike);
  const Sharing sharing = {apps::rank_of(alike), apps::size_of(alike)};
  MPI_Comm_free(&alike);
  MPI_Comm_free(&node);
  return sharing;
}

/// Binds this rank's threads if that is asked for; what came of it. Collective.
std::string bind(const Settings& settings, MPI_Comm comm) {
  return settings.bind ? bind_threads(settings.threads, sharing_of(comm)) : "";
}

/// Everything that is fixed before the first step.
struct Start {
  Settings settings;
  ComputeRate compute_rate;
  Bodies bodies;
  RunState state;
};

class Run {
 public:
  Run(MPI_Comm comm, Start start)
      : comm_(comm),
        settings_(std::move(start.settings)),
        compute_rate_(start.compute_rate),
        state_(std::move(start.state)),
        first_step_(state_.step),
        binding_(bind(settings_, comm)),
        set_(instruction_sets()[settings_.instructions]),
        team_(set_.kernels[settings_.kernel], set_, state_.eps * state_.eps, settings_.threads,
              settings_.deal),
        sides_(settings_.with),
        choice_(chosen(start.bodies)),
        count_(start.bodies.size()),
        scheme_(schemes()[choice_.scheme].make(comm, team_, count_)),
        simulation_(comm, std::move(start.bodies), integrator_of(state_), state_.dt, team_, *scheme_,
                    compute_rate_) {}

  apps::Results work(apps::Progress& progress) {
    simulation_.begin(sides_.exchanges(std::max(first_step_ - 1, 0L)));
    const Conserved before = measured();
    std::string wrong = motion_problem();
    if (wrong.empty()) wrong = overflow(before);
    if (wrong.empty()) wrong = forces_problem();
    const double zero_s = common_zero_s(comm_);
    if (wrong.empty()) take_frame();
    const double start = MPI_Wtime();
    for (int done = 0; done < settings_.steps && wrong.empty(); ++done) {
      const double per_s = done > 0 ? done / (MPI_Wtime() - start) : 0;
      progress.show("timesteps" + (done > 0 ? " (" + rate(per_s) + "/s)" : std::string()), done,
                    settings_.steps);
      wrong = advance();
    }
    const Conserved after = measured();
    if (wrong.empty()) wrong = overflow(after);
    if (wrong.empty()) wrong = forces_problem();
    if (wrong.empty()) write();
    if (wrong.empty()) write_film();
    write_trace(zero_s);
    const std::vector<apps::Measurement> times = measurements();
    return {
        .head = head(times.front()), .measurements = times, .wrong = wrong, .right = right(before, after)};
  }

 private:
  Choice chosen(const Bodies& bodies) {
    if (settings_.scheme) {
      const Fitting fitting = scheme_for(comm_, *settings_.scheme, bodies.size());
      if (fitting.why != nullptr) why_other_ = fitting.why;
      return {fitting.scheme, ""};
    }
    const auto allgather = std::ranges::find(schemes(), true, &SchemeRow::reproducible) - schemes().begin();
    if (settings_.reproducible) return {static_cast<std::size_t>(allgather), ""};
    return choose(comm_, team_, System(bodies), sides_.exchanges(1), compute_rate_);
  }

  Conserved measured() { return compute_rate_.pretended ? Conserved{} : simulation_.measured(); }
  std::string forces_problem() { return compute_rate_.pretended ? "" : simulation_.forces_problem(); }
  static std::string overflow(const Conserved& all) { return is_finite(all) ? "" : overflowed; }
  std::string motion_problem() const {
    const std::string numbers = compute_rate_.pretended ? "" : simulation_.numbers_problem();
    return numbers.empty() ? simulation_.replicas_problem() : numbers;
  }

  std::string advance() {
    const long end = first_step_ + settings_.steps;
    const bool traced = !settings_.trace.empty() && state_.step + most_traced_steps >= end;
    simulation_.step(sides_.exchanges(state_.step), sides_.times(state_.step), traced ? &spans_ : nullptr);
    ++state_.step;
    const bool last = state_.step == end;
    const bool due = settings_.every > 0 && state_.step % settings_.every == 0;
    const bool checked = due || last || state_.step % steps_between_checks == 0;
    if (const std::string wrong = checked ? motion_problem() : ""; !wrong.empty()) return wrong;
    if (due && !last) write();
    if (due || last) take_frame();
    return "";
  }

  void write() {
    if (settings_.output.empty()) return;
    const Bodies& all = simulation_.bodies();
    if (apps::rank_of(comm_) == 0)
      apps::write_whole(settings_.output, file_of(settings_.output, all, state_));
  }

  void take_frame() {
    if (settings_.film.empty()) return;
    const Bodies& all = simulation_.bodies();
    if (apps::rank_of(comm_) != 0) return;
    if (!film_) film_.emplace(all);
    film_->add(all);
  }

  void write_film() {
    if (film_) apps::write_whole(settings_.film, film_->gif());
  }

  void write_trace(double zero_s) {
    if (settings_.trace.empty()) return;
    const std::string title = std::to_string(count_) + " bodies, " + schemes()[choice_.scheme].name;
    const std::string text = trace_of_all(spans_, zero_s, title, comm_);
    if (apps::rank_of(comm_) == 0) apps::write_whole(settings_.trace, text);
  }

  static std::string rate(double per_s) {
    char text[40];
    std::snprintf(text, sizeof text, per_s < 100 ? "%.3g" : "%.0f", per_s);
    return text;
  }

  /// Of the median step of a side; empty if it made none.
  static std::string rate_of(const char* side, const std::vector<double>& step_s) {
    return step_s.empty() ? "" : " " + rate(1 / apps::median(step_s)) + " with " + side;
  }

  std::string head(const apps::Measurement& steps) const {
    const SchemeRow& row = schemes()[choice_.scheme];
    std::string text = std::to_string(count_) + " bodies, " + state_.integrator + ", dt " + shown(state_.dt) +
                       ", eps " + shown(state_.eps) + "; kernel " + team_.kernel().name + " on " + set_.name +
                       ", " + std::to_string(team_.threads()) +
                       (team_.threads() == 1 ? " thread" : " threads") + " a rank\nscheme " + row.name +
                       ": " + row.meaning;
    if (!why_other_.empty())
      text += " (in place of " + schemes()[*settings_.scheme].name + ", for " + why_other_ + ")";
    if (!binding_.empty()) text += "\n" + binding_;
    if (!choice_.reason.empty()) text += "\nof the trial: " + choice_.reason;
    if (settings_.steps == 0) return text;
    return text + "\ntimesteps/s:" + rate_of("plain MPI", steps.plain_s) + rate_of("Wherry", steps.wherry_s);
  }

  static std::string shown(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
  }

  std::vector<double> slowest(const std::vector<double>& mine_s) const {
    return apps::reduced(mine_s, MPI_MAX, comm_);
  }

  /// Of the steps of both sides, on the rank that took longest for all of them together.
  double mean_step_s() const {
    double mine_s = 0;
    for (const StepTimes* times : {&sides_.plain(), &sides_.wherry()})
      mine_s = std::accumulate(times->step_s.begin(), times->step_s.end(), mine_s);
    return settings_.steps == 0 ? 0 : apps::reduced(mine_s, MPI_MAX, comm_) / settings_.steps;
  }

  std::vector<apps::Measurement> measurements() const {
    constexpr std::array<std::pair<const char*, std::vector<double> StepTimes::*>, 3> parts = {
        {{"timestep", &StepTimes::step_s},
         {"computing", &StepTimes::compute_s},
         {"exchanging", &StepTimes::exchange_s}}};
    const std::set<std::string>& ran = sides_.wherry().strategies;
    const SchemeRow::Cost cost =
        schemes()[choice_.scheme].cost(static_cast<double>(count_), apps::size_of(comm_));
    std::vector<apps::Measurement> all;
    for (const auto& [metric, times] : parts)
      all.push_back({.name = std::to_string(count_) + " bodies, " + schemes()[choice_.scheme].name,
                     .metric = metric,
                     .message_bytes = 0,
                     .plain_s = slowest(sides_.plain().*times),
                     .wherry_s = slowest(sides_.wherry().*times),
                     .strategies = {ran.begin(), ran.end()}});
    // Of an acceleration, as the model has it.
    all.front().figures = {{"mean_step_s", mean_step_s()},
                           {"pairs", cost.pairs},
                           {"sent_bytes", cost.bytes},
                           {"sent_while_computing_bytes", cost.hidden_bytes},
                           {"messages", cost.messages}};
    return all;
  }

  std::string right(const Conserved& before, const Conserved& after) const {
    if (compute_rate_.pretended) return "that the ranks move alike, and nothing else: no pair was computed";
    const Drift drift = drift_between(before, after);
    char text[400];
    std::snprintf(
        text, sizeof text,
        "accelerations agree with the scalar kernel's, and ranks that move all bodies with each other\n"
        "energy %.15g, before %.15g\nchanges: energy %.2g, momentum %.2g, angular momentum %.2g",
        after.energy(), before.energy(), drift.energy, drift.momentum, drift.angular_momentum);
    const std::string warning = energy_warning(drift);
    return text + (warning.empty() ? "" : "\nwarning: " + warning);
  }

  MPI_Comm comm_;
  Settings settings_;
  ComputeRate compute_rate_;
  RunState state_;
  long first_step_;
  std::string binding_;
  const InstructionSet& set_;
  Team team_;
  Sides sides_;
  std::string why_other_;  // than the one that was asked for
  Choice choice_;
  std::size_t count_;
  std::unique_ptr<Scheme> scheme_;
  Simulation simulation_;
  Spans spans_;               // of this rank
  std::optional<Film> film_;  // on the first rank
};

apps::Results work(const Settings& settings, const ComputeRate& compute_rate,
                   const std::optional<Snapshot>& start, MPI_Comm comm, apps::Progress& progress) {
  const RunState state = broadcast_state(start ? *start->state : RunState{}, comm);
  Run run(comm, {settings, compute_rate, broadcast(start ? start->bodies : Bodies(), comm), state});
  return run.work(progress);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  constexpr double simulated_pairs_per_s = 1.5e9;
  ComputeRate compute_rate{.pairs_per_s = apps::simulated ? simulated_pairs_per_s : 0};
  std::optional<Snapshot> start;
  std::vector<apps::Option> options = options_of(settings);
  options.insert(options.begin(), scheme_option(settings));
  if (apps::simulated) std::ranges::move(compute_rate_options(compute_rate), std::back_inserter(options));
  const apps::Application application = {
      .manual = {.program = "nbody",
                 .summary = "Moves bodies that pull each other, every one every other, and prints how long "
                            "the steps take\n"
                            "with plain MPI and with Wherry, and what of energy and momentum is left.",
                 .examples = {"mpiexec -n 8 nbody",
                              "mpiexec -n 8 nbody --bodies 16384 --scheme ring --json nbody.json",
                              "mpiexec -n 2 nbody --threads 4 --output stars.csv --steps 1000 --every 100",
                              "mpiexec -n 2 nbody --restart stars.csv --output stars.csv",
                              "mpiexec -n 2 nbody --model sphere --steps 2000 --every 10 --film collapse.gif",
                              "mpiexec -n 1 nbody --model kepler --integrator yoshida4 --dt 0.01"}},
      .options = std::move(options),
      .common = settings.common,
      .validate = [&](int ranks) { start = validate(settings, ranks); },
      .work = [&](MPI_Comm comm,
                  apps::Progress& progress) { return work(settings, compute_rate, start, comm, progress); },
  };
  return apps::run(argc, argv, application);
}
