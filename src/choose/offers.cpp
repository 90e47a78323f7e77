#include "choose/offers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "choose/believable.hpp"
#include "plan/segments/collectives.hpp"
#include "plan/segments/cost.hpp"

namespace wherry::choose {
namespace {

/// Bytes of all segments together.
long long buffer_bytes(const Offer& offer, const Load& load) {
  return plan::in_blocks(offer.way.segments->operation) ? load.bytes * load.ranks : load.bytes;
}

/// Bytes of what a message carries whole numbers of: a block, or the largest segment.
long long unit_bytes(const Offer& offer, const Load& load) {
  if (offer.segments == 0) return load.bytes;
  return (buffer_bytes(offer, load) + offer.segments - 1) / offer.segments + load.unit_bytes - 1;
}

/// Every one of them: the times have a second minimum where segments become small enough to be sent eagerly.
void add_depths(Way way, const plan::Shape& shape, std::vector<Offer>& offers) {
  const int most = way.is_pipelined() ? deepest : 1;
  for (way.depth = 1; way.depth <= most; way.depth *= 2) offers.push_back(counted(way, shape));
}

}  // namespace

Offer counted(const Way& way, const plan::Shape& shape, int root) {
  if (way.exchange != nullptr) return {way, plan::traffic(*way.exchange, shape), 0};
  const plan::Parameters parameters{.root = root, .depth = way.depth};
  return {way, plan::traffic(*way.segments, shape, parameters),
          std::max(1, way.segments->segments(shape, parameters))};
}

std::vector<Offer> survey(const plan::Shape& shape, std::optional<plan::Operation> operation) {
  std::vector<Offer> offers;
  for (const Way& way : ways_of(operation))
    if (way.applies(shape)) add_depths(way, shape, offers);
  return offers;
}

Way deepened(const Way& way, const plan::Shape& shape, const Load& load, const plan::Machine& machine) {
  std::vector<Offer> offers;
  add_depths(way, shape, offers);
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

plan::Cost cost(const Offer& offer, const Load& load, const plan::Machine& machine) {
  return plan::price(offer.traffic, unit_bytes(offer, load), machine);
}

std::vector<Priced> priced(std::span<const Offer> offers, const Load& load, const plan::Machine& machine,
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

plan::Machine with_long_waits(plan::Machine machine) {
  constexpr double longer = 4;
  machine.latency_within_s *= longer;
  machine.latency_between_s *= longer;
  return machine;
}

std::vector<double> expected_seconds(std::span<const Priced> priced, const Load& load,
                                     const plan::Machine& machine) {
  const plan::Machine slower = with_long_waits(machine);
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
                                  const plan::Machine& machine) {
  const std::vector<double> expected = expected_seconds(priced, load, machine);
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < priced.size(); ++i)
    all.push_back({std::string(priced[i].offer->way.name()), expected[i]});
  return all;
}

}  // namespace wherry::choose
