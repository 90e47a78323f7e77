// How fast is each kernel on one core, against the loops that the compiler vectorises and against what the processor could do?
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "common/options.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "nbody/kernels.hpp"
#include "nbody/models.hpp"

namespace {

using namespace nbody;

struct Settings {
  apps::Common common;
  std::vector<int> bodies = {2048, 16384};
  std::size_t instructions = 0;
  bool softened = true;
  int turns = 5;

  double eps2() const { return softened ? 1e-4 : 0; }
  const InstructionSet& set() const { return instruction_sets()[instructions]; }
};

std::vector<apps::Option> options_of(Settings& s) {
  std::vector<std::string> sets;
  for (const InstructionSet& set : instruction_sets()) sets.push_back(set.name);
  std::vector<apps::Option> options = {
      {"--bodies", "LIST", "how many (default 2048,16384)",
       [&](const std::string& text) { s.bodies = apps::whole_numbers(text, 2, 1 << 20); }},
      {"--instructions", "SET", "one of this processor's: " + apps::listed(sets) + " (default: the first)",
       [&s, sets](const std::string& text) { s.instructions = apps::one_of(text, sets); }},
      {"--no-eps", "", "with a softening length of zero", [&](const std::string&) { s.softened = false; }},
  };
  options.push_back({"--turns", "N", "timed runs of each kernel, in turns (default 5)",
                     [&](const std::string& text) { s.turns = apps::whole_number(text, 1, 1000); }});
  for (apps::Option& option : apps::common_options(s.common))
    if (option.name != "--turns" && option.name != "--train") options.push_back(std::move(option));
  return options;
}

template <class Call>
double seconds(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One kernel, on the triangle of all pairs (each for both bodies) or on the full matrix.
struct Case {
  const Kernel* kernel;
  bool triangle;
  std::vector<double> times_s;
  double error = 0;

  void run(const Bodies& bodies, double eps2, Vectors& sums) const {
    const Range all{0, bodies.size()};
    if (triangle) kernel->within(bodies.points(), all, eps2, sums.sums());
    else kernel->onto(bodies.points(), all, bodies.points(), all, eps2, sums.sums());
  }
};

/// Root mean square over some bodies, against long double.
double error_of(const Bodies& bodies, const Vectors& found, double eps2) {
  using Real = long double;
  constexpr std::size_t most = 200;
  const std::size_t count = std::min(most, bodies.size());
  Real sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = k * bodies.size() / count;
    Real right[3] = {};
    for (std::size_t j = 0; j < bodies.size(); ++j) {
      Real d[3], r2 = eps2;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        d[axis] = Real(bodies.place[axis][j]) - bodies.place[axis][i];
        r2 += d[axis] * d[axis];
      }
      if (j == i) continue;
      for (std::size_t axis = 0; axis < 3; ++axis)
        right[axis] += bodies.m[j] * d[axis] / (r2 * std::sqrt(r2));
    }
    Real apart = 0, scale = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      apart += (found[axis][i] - right[axis]) * (found[axis][i] - right[axis]);
      scale += right[axis] * right[axis];
    }
    sum += apart / scale;
  }
  return static_cast<double>(std::sqrt(sum / static_cast<Real>(count)));
}

/// Of one number of bodies.
struct Comparison {
  std::size_t bodies;
  std::vector<Case> cases;
  std::vector<double> fused_s;  // a fused multiply-add each

  const Case& baseline(bool triangle) const {
    return *std::ranges::find_if(
        cases, [&](const Case& c) { return c.kernel->name == "autovectorised" && c.triangle == triangle; });
  }
};

Comparison compare(const Settings& settings, std::size_t count, apps::Progress& progress) {
  constexpr std::size_t fused_rounds = 50'000;
  Comparison comparison{count, {}, {}};
  for (const Kernel& kernel : settings.set().kernels)
    for (const bool triangle : {true, false}) comparison.cases.push_back({&kernel, triangle, {}});
  const Bodies bodies = models()[0].make(count, 1);
  volatile double unused = 0;
  // The first turn warms up and is for the errors.
  for (int turn = 0; turn <= settings.turns; ++turn) {
    progress.show(std::to_string(count) + " bodies", turn, settings.turns);
    for (Case& c : comparison.cases) {
      Vectors sums(count);
      const double time_s = seconds([&] { c.run(bodies, settings.eps2(), sums); });
      if (turn == 0) c.error = error_of(bodies, sums, settings.eps2());
      else c.times_s.push_back(time_s);
    }
    const double time_s = seconds([&] { unused = settings.set().fused(fused_rounds); });
    if (turn > 0) comparison.fused_s.push_back(time_s / (static_cast<double>(fused_rounds) * fused_in_round));
  }
  return comparison;
}

/// What is told of a case.
struct Figures {
  std::string name, timed;
  double time_s, baseline_s, interactions_per_s, error;
  double share;  // of what the ports could do; NaN: not counted
};

Figures figures(const Settings& settings, const Comparison& comparison, const Case& c) {
  const double n = static_cast<double>(comparison.bodies), time_s = apps::median(c.times_s);
  const double vectors = (c.triangle ? n * (n - 1) / 2 : n * n) / settings.set().doubles;
  const int instructions = simd_instructions(settings.set(), c.triangle, !settings.softened);
  const double bound_s = vectors * instructions * apps::median(comparison.fused_s);
  return {.name = std::to_string(comparison.bodies) + " bodies, " + c.kernel->name,
          .timed = c.triangle ? "triangle" : "full matrix",
          .time_s = time_s,
          .baseline_s = apps::median(comparison.baseline(c.triangle).times_s),
          .interactions_per_s = n * (n - 1) / time_s,
          .error = c.error,
          .share = c.kernel->name == "simd" ? bound_s / time_s : std::nan("")};
}

void print(const Settings& settings, const std::vector<Comparison>& comparisons) {
  std::printf("one core, %s, %d doubles in a vector; medians of %d\n\n", settings.set().name.c_str(),
              settings.set().doubles, settings.turns);
  std::printf("%-32s %-12s %10s %14s %9s %10s %9s\n", "case", "pairs", "time", "interactions/s", "x autov.",
              "port bound", "error");
  for (const Comparison& comparison : comparisons)
    for (const Case& c : comparison.cases) {
      const Figures f = figures(settings, comparison, c);
      char share[16] = "";
      if (!std::isnan(f.share)) std::snprintf(share, sizeof share, "%.0f%%", 100 * f.share);
      std::printf("%-32s %-12s %10s %14.3g %9.2f %10s %9.1e\n", f.name.c_str(), f.timed.c_str(),
                  apps::seconds_text(f.time_s).c_str(), f.interactions_per_s, f.baseline_s / f.time_s, share,
                  f.error);
    }
}

std::string json(const Settings& settings, const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons)
    for (const Case& c : comparison.cases) {
      const Figures f = figures(settings, comparison, c);
      char record[700];
      std::snprintf(
          record, sizeof record,
          "%s{\"bench\": \"nbody_kernels\", \"case\": \"%s\", \"metric\": \"%s\", \"unit\": \"s\", "
          "\"value\": %.9g, "
          "\"baseline\": %.9g, \"ratio\": %.9g, \"instructions\": \"%s\", \"interactions_per_s\": %.9g, "
          "\"error\": %.9g, \"share_of_port_bound\": ",
          text.empty() ? "" : ",\n ", f.name.c_str(), f.timed.c_str(), f.time_s, f.baseline_s,
          f.baseline_s / f.time_s, settings.set().name.c_str(), f.interactions_per_s, f.error);
      text += record + (std::isnan(f.share) ? "null" : std::to_string(f.share)) + ", \"samples\": [";
      for (std::size_t i = 0; i < c.times_s.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(c.times_s[i]);
      text += "]}";
    }
  return "[" + text + "]\n";
}

int run(int argc, char** argv) {
  Settings settings;
  const std::vector<apps::Option> options = options_of(settings);
  apps::parse(std::vector<std::string>(argv + 1, argv + argc), options);
  if (settings.common.help) {
    const apps::Manual manual = {
        .program = "nbody_kernels",
        .summary =
            "Times the kernels of nbody in turns on one core. Interactions are counted both ways round; the "
            "port bound\n"
            "is the time of as many fused multiply-adds as the kernel has vector instructions, measured "
            "alongside.",
        .examples = {"nbody_kernels", "nbody_kernels --bodies 2048,16384,65536 --json kernels.json"}};
    std::fputs(apps::help(manual, options).c_str(), stdout);
    return 0;
  }
  if (!settings.common.json.empty()) {
    const std::string problem = apps::why_unwritable(settings.common.json);
    if (!problem.empty()) throw apps::usage_error(problem);
  }
  std::vector<Comparison> comparisons;
  {
    apps::Progress progress("nbody_kernels", settings.common.progress);
    for (const int count : settings.bodies)
      comparisons.push_back(compare(settings, static_cast<std::size_t>(count), progress));
  }
  print(settings, comparisons);
  if (!settings.common.json.empty()) apps::write_whole(settings.common.json, json(settings, comparisons));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const apps::usage_error& error) {
    std::fprintf(stderr, "nbody_kernels: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nbody_kernels: %s\n", error.what());
    return 1;
  }
}
