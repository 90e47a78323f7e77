#include "tuning/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "model/segment_cost.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/trial_times.hpp"

namespace wherry::tuning {
namespace {

/// Bytes of all segments together.
long long buffer_bytes(const Offer& offer, const Load& load) {
  return schedule::in_blocks(offer.way.segments->operation) ? load.bytes * load.ranks : load.bytes;
}

/// Bytes of what a message carries whole numbers of: a block, or the largest segment.
long long unit_bytes(const Offer& offer, const Load& load) {
  if (offer.segments == 0) return load.bytes;
  return (buffer_bytes(offer, load) + offer.segments - 1) / offer.segments + load.unit_bytes - 1;
}

/// Every one of them: the times have a second minimum where segments become small enough to be sent eagerly.
void add_depths(schedule::Algorithm way, const topology::Placement& placement, std::vector<Offer>& offers) {
  const int most = way.is_pipelined() ? deepest : 1;
  for (way.depth = 1; way.depth <= most; way.depth *= 2) offers.push_back(counted(way, placement));
}

}  // namespace

Offer counted(const schedule::Algorithm& way, const topology::Placement& placement, int root) {
  if (way.exchange != nullptr) return {way, model::traffic(*way.exchange, placement), 0};
  const schedule::Parameters parameters{.root = root, .depth = way.depth};
  return {way, model::traffic(*way.segments, placement, parameters),
          std::max(1, way.segments->segments(placement, parameters))};
}

std::vector<Offer> survey(const topology::Placement& placement,
                          std::optional<schedule::Operation> operation) {
  std::vector<Offer> offers;
  for (const schedule::Algorithm& way : schedule::algorithms_of(operation))
    if (way.applies(placement)) add_depths(way, placement, offers);
  return offers;
}

schedule::Algorithm deepened(const schedule::Algorithm& way, const topology::Placement& placement,
                             const Load& load, const model::Machine& machine) {
  std::vector<Offer> offers;
  add_depths(way, placement, offers);
  return priced(offers, load, machine).front().offer->way;
}

long long shared_bytes(long long bytes) {
  return static_cast<long long>(std::bit_ceil(static_cast<unsigned long long>(bytes)));
}

long long staging_bytes(const Offer& offer, const Load& load) {
  const int slots = offer.traffic.most_slots;
  if (offer.segments == 0) return uniform_staging(slots, load.ranks, load.bytes);
  return slots * unit_bytes(offer, load) + buffer_bytes(offer, load);
}

model::Cost cost(const Offer& offer, const Load& load, const model::Machine& machine) {
  return model::price(offer.traffic, unit_bytes(offer, load), machine);
}

std::vector<Priced> priced(std::span<const Offer> offers, const Load& load, const model::Machine& machine,
                           const Allowed& allowed) {
  std::vector<Priced> all;
  for (const Offer& offer : offers) {
    if (allowed && !allowed(offer)) continue;
    const Priced one{&offer, cost(offer, load, machine)};
    if (all.empty() || all.back().offer->way.name() != offer.way.name()) all.push_back(one);
    else if (one.cost.seconds < all.back().cost.seconds) all.back() = one;
  }
  return all;
}

model::Machine with_long_waits(model::Machine machine) {
  constexpr double longer = 4;
  machine.latency_within_s *= longer;
  machine.latency_between_s *= longer;
  return machine;
}

std::vector<double> expected_seconds(std::span<const Priced> priced, const Load& load,
                                     const model::Machine& machine) {
  const model::Machine slower = with_long_waits(machine);
  double best = never, best_slower = never;
  std::vector<double> there;
  for (const Priced& p : priced) {
    there.push_back(cost(*p.offer, load, slower).seconds);
    best = std::min(best, p.cost.seconds);
    best_slower = std::min(best_slower, there.back());
  }
  std::vector<double> expected;
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const double seconds = priced[i].cost.seconds;
    expected.push_back(best > 0 ? best * std::sqrt(seconds / best * (there[i] / best_slower)) : seconds);
  }
  return expected;
}

std::vector<Candidate> candidates(std::span<const Priced> priced, const Load& load,
                                  const model::Machine& machine) {
  const std::vector<double> expected = expected_seconds(priced, load, machine);
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < priced.size(); ++i)
    all.push_back({std::string(priced[i].offer->way.name()), expected[i]});
  return all;
}

}  // namespace wherry::tuning
