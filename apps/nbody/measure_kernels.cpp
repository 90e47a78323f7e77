// How fast is each kernel on one core, against the loops that the compiler vectorises and against what the processor
// could do?
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <sstream>

#include "nbody/kernels.hpp"
#include "nbody/models.hpp"
#include "support/json.hpp"
#include "support/options.hpp"
#include "support/output_file.hpp"
#include "support/progress.hpp"
#include "support/report.hpp"

namespace {

using namespace nbody;

struct Settings {
  apps::Common common;
  std::vector<int> bodies = {2048, 16384};
  std::size_t instructions = 0;
  std::string kernel;  // empty: all
  bool softened = true;
  int turns = 5;

  double eps2() const { return softened ? 1e-4 : 0; }
  const InstructionSet& set() const { return instruction_sets()[instructions]; }
};

std::vector<std::string> names_of_kernels(const Settings& settings) {
  std::vector<std::string> names;
  for (const Kernel& kernel : settings.set().kernels) names.push_back(kernel.name);
  return names;
}

std::vector<apps::Option> options_of(Settings& s) {
  std::vector<std::string> sets;
  for (const InstructionSet& set : instruction_sets()) sets.push_back(set.name);
  std::vector<apps::Option> options = {
      {"--bodies", "LIST", "how many (default 2048,16384)",
       [&](const std::string& text) { s.bodies = apps::whole_numbers(text, 2, 1 << 20); }},
      {"--instructions", "SET", "one of this processor's: " + apps::listed(sets) + " (default: the first)",
       [&s, sets](const std::string& text) { s.instructions = apps::one_of(text, sets); }},
      {"--kernel", "NAME", "only this one and what it is measured against",
       [&](const std::string& text) {
         s.kernel = names_of_kernels(s)[apps::one_of(text, names_of_kernels(s))];
       }},
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

using Work = std::function<void(const Bodies& bodies, double eps2, Vectors& sums)>;

/// One form of all pairs: the triangle (each for both bodies) or the full matrix.
struct Case {
  std::string kernel, pairs;
  bool triangle;
  Instructions instructions;
  Work work;
  std::vector<double> times_s;
  double error = 0;
};

Work triangle_of(const Kernel& kernel) {
  return [&kernel](const Bodies& bodies, double eps2, Vectors& sums) {
    kernel.within(bodies.points(), {0, bodies.size()}, eps2, sums.sums());
  };
}
Work matrix_of(const Kernel& kernel) {
  return [&kernel](const Bodies& bodies, double eps2, Vectors& sums) {
    const Range all{0, bodies.size()};
    kernel.onto(bodies.points(), all, bodies.points(), all, eps2, sums.sums());
  };
}
Work field_of(const FieldKernel& kernel) {
  return [&kernel](const Bodies& bodies, double eps2, Vectors& sums) {
    std::vector<double> potentials(bodies.size());
    const Range all{0, bodies.size()};
    kernel.onto(bodies.points(), all, all, eps2, sums.sums(), potentials.data());
  };
}

constexpr const char* measured_against = "autovectorised";

/// simd is forces or accelerations, which need not be timed twice.
bool timed(const Settings& settings, const Kernel& kernel) {
  if (!settings.kernel.empty()) return kernel.name == settings.kernel || kernel.name == measured_against;
  const Kernel& first = settings.set().kernels.front();
  return &kernel == &first || kernel.within != first.within;
}

std::vector<Case> cases_of(const Settings& settings) {
  const InstructionSet& set = settings.set();
  std::vector<Case> cases;
  for (const Kernel& kernel : set.kernels) {
    if (!timed(settings, kernel)) continue;
    cases.push_back({kernel.name, "triangle", true, kernel.both_sides, triangle_of(kernel), {}});
    cases.push_back({kernel.name, "full matrix", false, kernel.one_side, matrix_of(kernel), {}});
  }
  if (!settings.kernel.empty()) return cases;
  for (const FieldKernel* kernel : {&set.field, &set.single_field})
    cases.push_back({kernel->name, "full matrix", false, {}, field_of(*kernel), {}});
  return cases;
}

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
  std::vector<std::vector<double>> bounds_s;  // of each case, for a vector of pairs; empty: not counted

  const Case& baseline(bool triangle) const {
    return *std::ranges::find_if(
        cases, [&](const Case& c) { return c.kernel == measured_against && c.triangle == triangle; });
  }
};

/// The same instructions without dependences.
double seconds_of_bound(const Instructions& instructions) {
  constexpr std::size_t times = 64'000;
  volatile double unused = 0;
  return seconds([&] { unused = instructions.run(times); }) / static_cast<double>(times);
}

/// The units for wide vectors sleep while there is nothing for them, and take some ten microseconds to wake: 3 % of the
/// time of 2048 bodies, which no step of a simulation after the first one takes.
void wake(const InstructionSet& set) { seconds_of_bound(set.kernels.front().both_sides); }

Comparison compare(const Settings& settings, std::size_t count, apps::Progress& progress) {
  Comparison comparison{count, cases_of(settings), {}};
  comparison.bounds_s.resize(comparison.cases.size());
  const Bodies bodies = models()[0].make(count, 1);
  // The first turn warms up and is for the errors.
  for (int turn = 0; turn <= settings.turns; ++turn) {
    progress.show(std::to_string(count) + " bodies", turn, settings.turns);
    for (std::size_t k = 0; k < comparison.cases.size(); ++k) {
      Case& c = comparison.cases[k];
      Vectors sums(count);
      wake(settings.set());
      const double time_s = seconds([&] { c.work(bodies, settings.eps2(), sums); });
      if (turn == 0) c.error = error_of(bodies, sums, settings.eps2());
      else c.times_s.push_back(time_s);
      if (turn > 0 && c.instructions.run != nullptr)
        comparison.bounds_s[k].push_back(seconds_of_bound(c.instructions));
    }
  }
  return comparison;
}

/// What is told of a case.
struct Figures {
  std::string name;
  double time_s, baseline_s, interactions_per_s, error;
  double share;  // of what the ports could do; NaN: not counted
};

Figures figures(const Settings& settings, const Comparison& comparison, std::size_t number) {
  const Case& c = comparison.cases[number];
  const double n = static_cast<double>(comparison.bodies), time_s = apps::median(c.times_s);
  const double vectors = (c.triangle ? n * (n - 1) / 2 : n * n) / settings.set().doubles;
  const std::vector<double>& bounds_s = comparison.bounds_s[number];
  return {.name = std::to_string(comparison.bodies) + " bodies, " + c.kernel,
          .time_s = time_s,
          .baseline_s = apps::median(comparison.baseline(c.triangle).times_s),
          .interactions_per_s = n * (n - 1) / time_s,
          .error = c.error,
          .share = bounds_s.empty() ? std::nan("") : vectors * apps::median(bounds_s) / time_s};
}

void print_instructions(const std::vector<Case>& cases) {
  std::printf("\nvector instructions for a row and a vector of columns, without loads and stores:\n");
  for (const Case& c : cases)
    if (c.instructions.run != nullptr)
      std::printf("  %-14s %-12s %2d: %d products and fused multiply-adds, %d sums, %d for the estimate\n",
                  c.kernel.c_str(), c.pairs.c_str(), c.instructions.all(), c.instructions.fused,
                  c.instructions.added, c.instructions.estimate);
}

void print(const Settings& settings, const std::vector<Comparison>& comparisons) {
  std::printf("one core, %s, %d doubles in a vector; medians of %d\n\n", settings.set().name.c_str(),
              settings.set().doubles, settings.turns);
  std::printf("%-32s %-12s %10s %14s %9s %10s %9s\n", "case", "pairs", "time", "interactions/s", "x autov.",
              "port bound", "error");
  for (const Comparison& comparison : comparisons)
    for (std::size_t k = 0; k < comparison.cases.size(); ++k) {
      const Figures f = figures(settings, comparison, k);
      char share[16] = "";
      if (!std::isnan(f.share)) std::snprintf(share, sizeof share, "%.0f%%", 100 * f.share);
      std::printf("%-32s %-12s %10s %14.3g %9.2f %10s %9.1e\n", f.name.c_str(),
                  comparison.cases[k].pairs.c_str(), apps::seconds_text(f.time_s).c_str(),
                  f.interactions_per_s, f.baseline_s / f.time_s, share, f.error);
    }
  print_instructions(comparisons.front().cases);
}

void write(apps::JsonWriter& json, const Settings& settings, const Comparison& comparison,
           std::size_t number) {
  const Case& c = comparison.cases[number];
  const Figures f = figures(settings, comparison, number);
  json.object([&] {
    json.member("bench", "nbody_kernels");
    json.member("case", f.name);
    json.member("metric", c.pairs);
    json.member("unit", "s");
    json.member("value", f.time_s);
    json.member("baseline", f.baseline_s);
    json.member("ratio", f.baseline_s / f.time_s);
    json.member("instructions", settings.set().name);
    json.member("interactions_per_s", f.interactions_per_s);
    json.member("error", f.error);
    json.member("share_of_port_bound", f.share);
    apps::list(json, "samples", c.times_s);
  });
}

std::string json(const Settings& settings, const std::vector<Comparison>& comparisons) {
  std::ostringstream text;
  apps::JsonWriter json(text);
  json.array([&] {
    for (const Comparison& comparison : comparisons)
      for (std::size_t k = 0; k < comparison.cases.size(); ++k) write(json, settings, comparison, k);
  });
  return text.str();
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
            "is the time of the kernel's vector instructions where none waits for another, measured "
            "alongside.",
        .examples = {"nbody_kernels", "nbody_kernels --bodies 2048,16384,65536 --json kernels.json"}};
    std::fputs(apps::help(manual, options).c_str(), stdout);
    return 0;
  }
  apps::check_writable({{"--json", settings.common.json}});
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
