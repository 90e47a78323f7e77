#include "nbody/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "nbody/binding.hpp"
#include "nbody/integrators.hpp"
#include "nbody/kernels.hpp"
#include "nbody/models.hpp"

namespace nbody {
namespace {

constexpr int default_bodies = 4096;
constexpr std::uint64_t default_seed = 1;
constexpr double default_dt = 1e-3, default_eps = 0.01;
constexpr std::size_t default_integrator = 1;

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

/// "simd: estimated ...; scalar: ..."
template <class Rows>
std::string meanings_of(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) text += "\n      " + row.name + ": " + row.meaning;
  return text;
}

double real_number(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number))
    throw apps::usage_error("'" + text + "' is not a number");
  return number;
}

double number_from(const std::string& text, bool zero_too) {
  const double number = real_number(text);
  if (number < 0 || (number == 0 && !zero_too))
    throw apps::usage_error(text + " is not " + (zero_too ? "zero or more" : "more than zero"));
  return number;
}

std::string file_name(const std::string& text) {
  if (text.empty()) throw apps::usage_error("the name of the file is empty");
  return text;
}

std::string film_name(const std::string& text) {
  const std::string ending = std::filesystem::path(file_name(text)).extension();
  if (!ending.empty() && ending != ".gif" && ending != ".GIF")
    throw apps::usage_error("a film is a GIF, and '" + text + "' does not end in .gif; name the file so");
  return text;
}

/// What the file says must be what the options say, if they say anything.
template <class Value>
void agree(const char* option, const std::optional<Value>& asked, const Value& stored,
           const std::string& file) {
  if (asked && *asked != stored)
    throw apps::usage_error(
        std::string(option) + " disagrees with '" + file +
        "', which must go on as it began; leave it out, or begin anew from these bodies with --input");
}

Snapshot go_on(const Settings& settings) {
  Snapshot snapshot = read_snapshot(settings.restart);
  if (!snapshot.state)
    throw input_error(settings.restart +
                      ": no line '# nbody step=...'; take a file that --output wrote, or --input");
  const RunState& state = *snapshot.state;
  const auto integrator = std::ranges::find(integrators(), state.integrator, &Integrator::name);
  if (integrator == integrators().end())
    throw input_error(settings.restart + ": integrator '" + state.integrator + "' is none of " +
                      apps::listed(names_of(integrators())));
  agree("--dt", settings.dt, state.dt, settings.restart);
  agree("--eps", settings.eps, state.eps, settings.restart);
  agree("--integrator", settings.integrator, static_cast<std::size_t>(integrator - integrators().begin()),
        settings.restart);
  return snapshot;
}

const Model& model_of(const Settings& settings) { return models()[settings.model.value_or(0)]; }

Bodies drawn(const Settings& settings) {
  const Model& model = model_of(settings);
  const auto asked = static_cast<std::size_t>(settings.bodies.value_or(default_bodies));
  return model.make(settings.bodies ? asked : std::clamp(asked, model.least, model.most),
                    settings.seed.value_or(default_seed));
}

Snapshot begin_anew(const Settings& settings) {
  Snapshot snapshot = settings.input.empty() ? Snapshot{drawn(settings), {}} : read_snapshot(settings.input);
  const bool needs_no_eps = settings.input.empty() && model_of(settings).most == 2;
  snapshot.state =
      RunState{.step = 0,
               .dt = settings.dt.value_or(default_dt),
               .eps = settings.eps.value_or(needs_no_eps ? 0 : default_eps),
               .integrator = integrators()[settings.integrator.value_or(default_integrator)].name};
  return snapshot;
}

void check_sources(const Settings& settings) {
  const int sources = (settings.input.empty() ? 0 : 1) + (settings.restart.empty() ? 0 : 1);
  if (sources > 1) throw apps::usage_error("--input and --restart are both given; write one of them");
  const std::pair<const char*, bool> drawn_by[] = {
      {"--model", settings.model.has_value()},
      {"--bodies", settings.bodies.has_value()},
      {"--seed", settings.seed.has_value()},
  };
  for (const auto& [option, given] : drawn_by)
    if (sources == 1 && given)
      throw apps::usage_error(std::string(option) +
                              " is given, but the bodies come from a file; leave it out");
  const Model& model = model_of(settings);
  const auto bodies = static_cast<std::size_t>(settings.bodies.value_or(default_bodies));
  if (sources == 0 && settings.bodies && (bodies < model.least || bodies > model.most))
    throw apps::usage_error("--bodies: the model " + model.name + " has " + std::to_string(model.least) +
                            " bodies");
}

}  // namespace

std::vector<apps::Option> options_of(Settings& s) {
  const auto choice = [](auto& to, std::vector<std::string> names) {
    return [&to, names](const std::string& text) { to = apps::one_of(text, names); };
  };
  static const std::vector<std::string> deals = {"fair", "rows"}, sides = {"turns", "mpi", "wherry"};
  std::vector<apps::Option> options = {
      {"--model", "NAME", "bodies to begin with (default plummer)" + meanings_of(models()),
       choice(s.model, names_of(models()))},
      {"--bodies", "N", "how many (default 4096)",
       [&](const std::string& text) { s.bodies = apps::whole_number(text, 2, most_bodies); }},
      {"--seed", "N", "of the model (default 1)",
       [&](const std::string& text) {
         s.seed = static_cast<std::uint64_t>(apps::whole_number(text, 0, std::numeric_limits<int>::max()));
       }},
      {"--input", "FILE",
       "begin with the bodies of a file: lines m,x,y,z,vx,vy,vz below such a line, or a snapshot of GADGET's",
       [&](const std::string& text) { s.input = file_name(text); }},
      {"--restart", "FILE", "go on where the run was that wrote FILE with --output",
       [&](const std::string& text) { s.restart = file_name(text); }},
      {"--steps", "N", "steps in time (default 100)",
       [&](const std::string& text) {
         s.steps = apps::whole_number(text, 0, std::numeric_limits<int>::max());
       }},
      {"--dt", "T", "length of a step (default 0.001)",
       [&](const std::string& text) { s.dt = number_from(text, false); }},
      {"--eps", "L", "softening length (default 0.01; kepler 0)",
       [&](const std::string& text) { s.eps = number_from(text, true); }},
      {"--integrator", "NAME", "(default leapfrog)" + meanings_of(integrators()),
       choice(s.integrator, names_of(integrators()))},
      {"--kernel", "NAME",
       "how pairs are computed (default simd)" + meanings_of(instruction_sets().front().kernels),
       choice(s.kernel, names_of(instruction_sets().front().kernels))},
      {"--instructions", "SET",
       "one of this processor's: " + apps::listed(names_of(instruction_sets())) + " (default: the first)",
       choice(s.instructions, names_of(instruction_sets()))},
      {"--threads", "N", "of each rank (default 1)",
       [&](const std::string& text) { s.threads = apps::whole_number(text, 1, 4096); }},
      {"--deal", "HOW", "pairs to threads: fair, or rows (eight at a time in turn; default fair)",
       [&](const std::string& text) { s.deal = static_cast<Deal>(apps::one_of(text, deals)); }},
      {"--bind", "", "a core of its own to each thread", [&](const std::string&) { s.bind = true; }},
      {"--with", "SIDE",
       "exchanges by turns (plain MPI and Wherry step by step), mpi or wherry (default turns)",
       [&](const std::string& text) { s.with = static_cast<With>(apps::one_of(text, sides)); }},
      {"--reproducible", "",
       "the same bits for every number of ranks and threads (takes the scheme allgather)",
       [&](const std::string&) { s.reproducible = true; }},
      {"--output", "FILE",
       "write the bodies at the end, whole or not at all; as GADGET does if the name ends in .gadget",
       [&](const std::string& text) { s.output = file_name(text); }},
      {"--trace", "FILE",
       "write where each rank's time goes in the last steps, for ui.perfetto.dev and `wherry trace`",
       [&](const std::string& text) { s.trace = file_name(text); }},
      {"--film", "FILE",
       "write a moving picture (GIF), seen along the z axis, with a frame every --every steps",
       [&](const std::string& text) { s.film = film_name(text); }},
      {"--every", "N", "replace the output by the bodies of then, and add a frame, every N steps too",
       [&](const std::string& text) {
         s.every = apps::whole_number(text, 1, std::numeric_limits<int>::max());
       }},
  };
  for (apps::Option& option : apps::common_options(s.common))
    // A simulation has steps, not turns, and Wherry learns during the first.
    if (option.name != "--turns" && option.name != "--train") options.push_back(std::move(option));
  return options;
}

void check(const Settings& settings) {
  check_sources(settings);
  if (settings.threads > 1 && !has_threads())
    throw apps::usage_error(
        "--threads: built without OpenMP; install the compiler's OpenMP library and build again");
  if (!settings.trace.empty() && settings.steps == 0)
    throw apps::usage_error("--trace: without a step there is nothing to trace; give --steps 1 or more");
  if (settings.bind && !can_bind())
    throw apps::usage_error(
        "--bind: built without hwloc; as root: apt-get install libhwloc-dev, and build again");
  if (settings.every > 0 && settings.output.empty() && settings.film.empty())
    throw apps::usage_error("--every says when to write, but not where; add --output FILE or --film FILE");
  if (settings.every == 0 && !settings.film.empty())
    throw apps::usage_error("--film needs to know how often; add --every N");
}

Snapshot start_of(const Settings& settings) {
  try {
    return settings.restart.empty() ? begin_anew(settings) : go_on(settings);
  } catch (const input_error& error) {
    throw apps::usage_error(error.what());
  }
}

}  // namespace nbody
