#include "model/fit.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedule/arithmetic.hpp"

namespace wherry::model {
namespace {

using Guess = std::optional<double>;

/// The time of one size, or of one number of flows.
struct Point {
  double x, value;
};

using Points = std::vector<Point>;  // by ascending x

// ---- Robust statistics

double lower_quartile(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 4];
}

Guess median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

bool is_sound(const Sample& s) { return std::isfinite(s.value) && s.value >= 0 && s.bytes >= 0; }

/// What samples of one kind tell of each size.
Points typical(std::span<const Sample> samples, Probe probe, Where where, int flows = 1) {
  std::map<double, std::vector<double>> by_size;
  for (const Sample& s : samples)
    if (s.probe == probe && s.where == where && s.flows == flows && is_sound(s))
      by_size[s.bytes].push_back(s.value);
  Points points;
  for (auto& [bytes, values] : by_size) points.push_back({bytes, lower_quartile(std::move(values))});
  return points;
}

/// No size takes longer than a larger one, no number of flows than more of them: the excess is a disturbance.
Points rising(Points points) {
  for (std::size_t i = points.size(); i-- > 1;)
    points[i - 1].value = std::min(points[i - 1].value, points[i].value);
  return points;
}

Guess slope(const Points& points) {
  struct Pair {
    double slope, weight;
  };
  std::vector<Pair> pairs;
  double all = 0;
  for (std::size_t j = 0; j < points.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const double apart = points[j].x - points[i].x;
      pairs.push_back({(points[j].value - points[i].value) / apart, apart});
      all += apart;
    }
  std::ranges::sort(pairs, {}, [](const Pair& p) { return std::pair(p.slope, p.weight); });
  double below = 0;
  for (const Pair& p : pairs)
    if ((below += p.weight) >= all / 2) return p.slope;
  return std::nullopt;
}

// ---- The constants

Guess first_value(const Points& points) {
  return points.empty() ? std::nullopt : Guess(points.front().value);
}

Guess alpha(std::span<const Sample> samples, Where where) {
  return first_value(typical(samples, Probe::exchange, where));
}

Guess seconds_per_byte(std::span<const Sample> samples, Probe probe, Where where) {
  return slope(rising(typical(samples, probe, where)));
}

/// What an empty message takes beyond alpha. Never next to nothing, though sending and receiving at once may cost a
/// rank as much as waiting for one message: ranks that wait for each other lose time on any machine.
Guess latency(std::span<const Sample> samples, Where where, double alpha_s) {
  constexpr double least_share = 0.1;
  const Points points = rising(typical(samples, Probe::one_way, where));
  if (points.empty()) return std::nullopt;
  const double one_way = points.front().value;
  const double data = slope(points).value_or(0) * points.front().x;
  return std::max(one_way - data - alpha_s, least_share * one_way);
}

/// The smallest size that waits. If none does, those that were not tried may.
Guess eager_bytes(std::span<const Sample> samples) {
  const Points points = rising(typical(samples, Probe::waits, Where::between));
  for (const Point& p : points)
    if (p.value > 0) return p.x;
  return points.empty() ? std::nullopt : Guess(2 * points.back().x);
}

std::set<int> flows_of(std::span<const Sample> samples) {
  std::set<int> all;
  for (const Sample& s : samples)
    if (s.probe == Probe::flows && s.flows > 0 && is_sound(s)) all.insert(s.flows);
  return all;
}

/// The smallest size stands for those that do not wait for their receivers.
Guess congestion(std::span<const Sample> samples) {
  Points points;
  for (const int flows : flows_of(samples))
    if (const Guess value = first_value(typical(samples, Probe::flows, Where::between, flows)))
      points.push_back({schedule::levels(flows), *value});
  const Guess loss = slope(rising(points));
  const double alone = loss ? rising(points).front().value : 0;
  return alone > 0 ? Guess(*loss / alone) : std::nullopt;
}

/// On the busiest link: sizes that wait for their receivers against the largest that does not.
Guess rendezvous(std::span<const Sample> samples, double eager) {
  Guess at_once;
  std::vector<double> waiting;
  const std::set<int> flows = flows_of(samples);
  for (const Point& p : typical(samples, Probe::flows, Where::between, flows.empty() ? 0 : *flows.rbegin()))
    if (p.x < eager) at_once = p.value;
    else waiting.push_back(p.value);
  const Guess longer = median(std::move(waiting));
  if (!at_once || *at_once <= 0 || !longer) return std::nullopt;
  return std::max(*longer / *at_once, 1.0);
}

void set(Fit& fit, double Machine::* member, const Guess& guess) {
  const std::size_t i = index_of(member);
  const bool plausible = guess && is_plausible(constants[i], *guess);
  fit.provenance[i] = plausible ? Provenance::measured : guess ? Provenance::absurd : Provenance::missing;
  if (plausible) fit.known[i] = *guess;
}

}  // namespace

Fit fit(std::span<const Sample> samples) {
  Fit fit;
  set(fit, &Machine::alpha_within_s, alpha(samples, Where::within));
  set(fit, &Machine::alpha_between_s, alpha(samples, Where::between));
  set(fit, &Machine::beta_within_s, seconds_per_byte(samples, Probe::one_way, Where::within));
  set(fit, &Machine::beta_between_s, seconds_per_byte(samples, Probe::one_way, Where::between));
  set(fit, &Machine::gamma_s, seconds_per_byte(samples, Probe::copy, Where::within));
  set(fit, &Machine::eager_between_bytes, eager_bytes(samples));
  const Machine so_far = machine_with(fit.known);
  set(fit, &Machine::latency_within_s, latency(samples, Where::within, so_far.alpha_within_s));
  set(fit, &Machine::latency_between_s, latency(samples, Where::between, so_far.alpha_between_s));
  set(fit, &Machine::rendezvous, rendezvous(samples, so_far.eager_between_bytes));
  set(fit, &Machine::congestion, congestion(samples));
  return fit;
}

}  // namespace wherry::model
