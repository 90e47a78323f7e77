// Samples of synthetic machines, whose constants are known: they come back, whatever disturbs the samples.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/fit.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::model;

namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return low + (high - low) * std::generate_canonical<double, 53>(random);
}

double between(Random& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}

/// From fast networks to slow ones.
Machine any_machine(Random& random) {
  Machine m;
  m.alpha_within_s = between(random, 1e-7, 2e-6);
  m.alpha_between_s = between(random, 5e-7, 3e-5);
  m.beta_within_s = 1 / between(random, 1e9, 3e10);
  m.beta_between_s = 1 / between(random, 1e7, 1.2e10);
  m.gamma_s = 1 / between(random, 1e9, 3e10);
  m.latency_within_s = m.alpha_within_s * between(random, 0.3, 3);
  m.latency_between_s = m.alpha_between_s * between(random, 0.3, 3);
  m.eager_between_bytes = std::exp2(12 + static_cast<int>(random() % 8));
  m.rendezvous = uniform(random, 1, 3);
  m.congestion = uniform(random, 0, 0.5);
  return m;
}

/// noise: relative, of every sample. Of `outliers` of them something took up to ten times as long.
struct Weather {
  const char* name;
  double noise, outliers;
};

class Measuring {
 public:
  Measuring(const Machine& m, Weather weather, Random& random) : m_(m), weather_(weather), random_(random) {}

  /// What bench/model.cpp would print on several nodes.
  std::vector<Sample> everywhere() {
    within();
    for (const double bytes : sizes)
      one_way(Where::between, bytes, m_.alpha_between_s, m_.latency_between_s, m_.beta_between_s);
    for (double bytes = 1 << 10; bytes <= 1 << 20; bytes *= 2)
      samples_.insert(samples_.end(), 3, {Probe::waits, Where::between, bytes, 1, double(bytes >= eager())});
    add({Probe::exchange, Where::between, 8, 1, m_.alpha_between_s});
    for (const int flows : {1, 2, 4, 8}) flow(flows, 1 << 10, 1);
    for (double bytes = eager(); bytes <= 1 << 20; bytes *= 4) flow(8, bytes, m_.rendezvous);
    return samples_;
  }
  /// On one node.
  std::vector<Sample> within() {
    for (const double bytes : sizes)
      one_way(Where::within, bytes, m_.alpha_within_s, m_.latency_within_s, m_.beta_within_s);
    add({Probe::exchange, Where::within, 8, 1, m_.alpha_within_s});
    for (double bytes = 1 << 12; bytes <= 1 << 20; bytes *= 4)
      add({Probe::copy, Where::within, bytes, 1, 5e-8 + bytes * m_.gamma_s});
    return samples_;
  }

 private:
  static constexpr double sizes[] = {8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};

  double eager() const { return m_.eager_between_bytes; }
  void one_way(Where where, double bytes, double alpha, double latency, double beta) {
    add({Probe::one_way, where, bytes, 1, alpha + latency + bytes * beta});
  }
  void flow(int flows, double bytes, double longer) {
    add({Probe::flows, Where::between, bytes, flows,
         m_.beta_between_s * (1 + m_.congestion * std::log2(flows)) * longer});
  }
  void add(Sample sample) {
    const double truth = sample.value;
    for (int i = 0; i < 15; ++i) {
      sample.value = truth * uniform(random_, 1 - weather_.noise, 1 + weather_.noise);
      if (uniform(random_, 0, 1) < weather_.outliers) sample.value *= uniform(random_, 1, 10);
      samples_.push_back(sample);
    }
  }

  Machine m_;
  Weather weather_;
  Random& random_;
  std::vector<Sample> samples_;
};

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

bool same_bits(const Constants& a, const Constants& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (x != x && y != y); });
}

std::vector<Sample> without(std::vector<Sample> samples, Probe probe) {
  std::erase_if(samples, [=](const Sample& s) { return s.probe == probe; });
  return samples;
}

}  // namespace

TEST_CASE("fit: constants come back exactly from samples without noise") {
  constexpr std::uint64_t seed = 21;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const Machine m = any_machine(random);
    const Fit found = fit(Measuring(m, {"none", 0, 0}, random).everywhere());
    for (std::size_t c = 0; c < constants.size(); ++c) {
      CAPTURE(constants[c].name);
      CHECK(found.provenance[c] == Provenance::measured);
      CHECK(found.known[c] == doctest::Approx(m.*constants[c].member).epsilon(1e-6));
    }
  }
}

TEST_CASE("fit: constants come back from noise and outliers") {
  constexpr std::uint64_t seed = 22;
  CAPTURE(seed);
  Random random(seed);
  for (const Weather weather : {Weather{"fair", 0.03, 0.1}, Weather{"foul", 0.05, 0.25}}) {
    CAPTURE(std::string(weather.name));
    for (int i = 0; i < 200; ++i) {
      const Machine m = any_machine(random);
      const Machine found = machine_with(fit(Measuring(m, weather, random).everywhere()).known);
      CHECK(near(found.alpha_within_s, m.alpha_within_s, 0.15));
      CHECK(near(found.alpha_between_s, m.alpha_between_s, 0.15));
      CHECK(near(found.beta_within_s, m.beta_within_s, 0.15));
      CHECK(near(found.beta_between_s, m.beta_between_s, 0.15));
      CHECK(near(found.gamma_s, m.gamma_s, 0.15));
      // A difference of two measurements: as exact as their sum.
      CHECK(near(found.alpha_within_s + found.latency_within_s, m.alpha_within_s + m.latency_within_s, 0.15));
      CHECK(near(found.alpha_between_s + found.latency_between_s, m.alpha_between_s + m.latency_between_s,
                 0.15));
      CHECK(found.eager_between_bytes == m.eager_between_bytes);
      CHECK(near(found.rendezvous, m.rendezvous, 0.3));
      CHECK(std::abs(found.congestion - m.congestion) <= 0.15);
    }
  }
}

TEST_CASE("fit: the order of the samples makes no difference to a bit") {
  constexpr std::uint64_t seed = 23;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 50; ++i) {
    std::vector<Sample> samples = Measuring(any_machine(random), {"foul", 0.05, 0.3}, random).everywhere();
    const Fit first = fit(samples);
    std::ranges::shuffle(samples, random);
    const Fit again = fit(samples);
    CHECK(same_bits(first.known, again.known));
    CHECK(first.provenance == again.provenance);
  }
}

TEST_CASE("fit: one node tells nothing between nodes, and the defaults stay") {
  Random random(24);
  const Fit found = fit(Measuring(any_machine(random), {"fair", 0.03, 0.1}, random).within());
  const Machine machine = machine_with(found.known), usual;
  for (std::size_t c = 0; c < constants.size(); ++c) {
    const std::string name(constants[c].name);
    CAPTURE(name);
    const bool local = name.ends_with("_within") || name == "gamma";
    CHECK(found.provenance[c] == (local ? Provenance::measured : Provenance::missing));
    CHECK((machine.*constants[c].member == usual.*constants[c].member) == !local);
  }
}

TEST_CASE("fit: without a probe exactly the constants that it tells are missing") {
  struct Case {
    Probe probe;
    std::vector<std::string_view> missing;
  };
  const Case cases[] = {
      {Probe::one_way, {"beta_within", "beta_between", "latency_within", "latency_between"}},
      {Probe::exchange, {"alpha_within", "alpha_between"}},
      {Probe::flows, {"rendezvous", "congestion"}},
      {Probe::waits, {"eager_between"}},
      {Probe::copy, {"gamma"}}};
  Random random(25);
  const std::vector<Sample> all = Measuring(Machine{}, {"none", 0, 0}, random).everywhere();
  for (const Case& c : cases) {
    const Fit found = fit(without(all, c.probe));
    for (std::size_t i = 0; i < constants.size(); ++i) {
      CAPTURE(constants[i].name);
      const bool missing = std::ranges::find(c.missing, constants[i].name) != c.missing.end();
      CHECK(found.provenance[i] == (missing ? Provenance::missing : Provenance::measured));
      CHECK(is_known(found.known[i]) == !missing);
    }
  }
}

TEST_CASE("fit: samples that cannot be are no samples, and constants that cannot be are left") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto alpha = [](double value) {
    const std::vector<Sample> samples = {{Probe::exchange, Where::within, 8, 1, value}};
    return fit(samples).provenance[index_of(&Machine::alpha_within_s)];
  };
  for (const double value : {nan, infinite, -1.0}) CHECK(alpha(value) == Provenance::missing);
  for (const double value : {0.0, 1e-30, 1000.0}) CHECK(alpha(value) == Provenance::absurd);
  CHECK(alpha(1e-6) == Provenance::measured);
  CHECK(fit({}).provenance[0] == Provenance::missing);
}

TEST_CASE("fit: whatever the samples say, the machine is one that can be") {
  constexpr std::uint64_t seed = 26;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Sample> samples;
    for (std::size_t n = random() % 40; n > 0; --n)
      samples.push_back({static_cast<Probe>(random() % 5), static_cast<Where>(random() % 2),
                         static_cast<double>(random() % 4 * 1000), static_cast<int>(random() % 4),
                         between(random, 1e-15, 1e3)});
    const Machine m = machine_with(fit(samples).known);
    for (const Constant& c : constants) CHECK(is_plausible(c, m.*c.member));
  }
}

TEST_CASE("fit: where no send waits, eager messages may be larger than all that were tried") {
  const std::vector<Sample> samples = {{Probe::waits, Where::between, 1024, 1, 0},
                                       {Probe::waits, Where::between, 4096, 1, 0}};
  CHECK(machine_with(fit(samples).known).eager_between_bytes == 8192);
}

TEST_CASE("constants: every member of a machine has a row, and the defaults are plausible") {
  CHECK(sizeof(Machine) == constants.size() * sizeof(double));
  for (const Constant& c : constants) CHECK(is_plausible(c, Machine{}.*c.member));
  CHECK(same_bits(constants_of(machine_with(nothing_known)), constants_of(Machine{})));
}
