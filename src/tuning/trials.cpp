#include "tuning/trials.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace wherry::tuning {
namespace {

// What makes a call long, in barriers.
constexpr double much = 14;

// Stands for the time of a candidate without a trial in this round, which is the same on all ranks.
constexpr long long untried = -1;

/// As the model sees it: a message in each round.
double barrier_seconds(const topology::Placement& placement, const model::Machine& m) {
  const double message_s =
      placement.nodes() > 1 ? m.latency_between_s + m.alpha_between_s : m.latency_within_s + m.alpha_within_s;
  return message_s * std::bit_width(static_cast<unsigned>(placement.size() - 1));
}

}  // namespace

bool are_long(std::span<const Candidate> candidates, const topology::Placement& placement,
              const model::Machine& machine) {
  if (candidates.size() == 1) return false;
  const double limit = much * barrier_seconds(placement, machine);
  return std::ranges::all_of(candidates.subspan(1),
                             [=](const Candidate& c) { return c.predicted_s > limit; });
}

Timing timing_for(std::optional<schedule::Operation> operation, std::span<const Candidate> candidates,
                  const topology::Placement& placement, const model::Machine& machine) {
  const bool rooted = operation && schedule::has_root(*operation);
  if (rooted || are_long(candidates, placement, machine))
    return {Trials::after_barriers, Trials::after_barriers};
  return {Trials::as_they_come, placement.nodes() > 1 ? Trials::after_barriers : Trials::as_they_come};
}

std::vector<long long> to_agree(std::span<const double> summary) {
  std::vector<long long> numbers;
  for (const double s : summary) numbers.push_back(std::isfinite(s) ? std::llround(s * 1e9) : untried);
  return numbers;
}

std::vector<double> agreed_times(std::span<const long long> combined, Trials trials, int ranks) {
  const double each_s = 1e-9 / (trials == Trials::after_barriers ? 1 : ranks);
  std::vector<double> times;
  for (const long long time : combined)
    times.push_back(time < 0 ? std::numeric_limits<double>::infinity() : each_s * static_cast<double>(time));
  return times;
}

long long allowance_to_agree(double affordable_s, Trials trials) {
  constexpr double day_s = 86400;
  const long long own = std::llround(std::min(affordable_s, day_s) * 1e9);
  return trials == Trials::after_barriers ? -own : own;
}

double agreed_allowance(long long combined, Trials trials, int ranks) {
  return trials == Trials::after_barriers ? -1e-9 * static_cast<double>(combined)
                                          : 1e-9 / ranks * static_cast<double>(combined);
}

}  // namespace wherry::tuning
