#include "run/offers.hpp"

#include <algorithm>
#include <climits>

#include "plan/segments/cost.hpp"
#include "run/perform.hpp"

namespace wherry::run {

namespace {

/// Staging of an all-to-all on any rank; in place the data to send is copied as well.
std::size_t exchange_staging(const Communicator& c, const CellKey& key, int slots) {
  if (key.collective != Collective::alltoall) return combined_staging(slots, c.size(), key.bucket);
  const int copies = key.limit == Limit::in_place ? c.size() : 0;
  return uniform_staging(slots + copies, c.size(), largest(key));
}

/// Bytes of all segments together.
long long buffer_bytes(const Communicator& c, const CellKey& key, plan::Operation operation) {
  return in_blocks(operation) ? largest(key) * c.size() : largest(key);
}

bool exchange_fits(const Communicator& c, const CellKey& key, const plan::Strategy& s, int slots) {
  const bool in_place = key.limit == Limit::in_place;
  if (key.collective != Collective::alltoall && in_place) return s.name == in_place_strategy;
  const bool copies = s.hops == plan::Hops::several || in_place;
  const std::size_t most = std::min<std::size_t>(c.terms().staging_max, INT_MAX);
  return !copies || (c.terms().host_memory && key.bucket < 32 && exchange_staging(c, key, slots) <= most);
}

bool segments_fit(const Communicator& c, const CellKey& key, const plan::SegmentStrategy& s,
                  long long staging) {
  if (key.limit == Limit::in_order && !s.keeps_order(c.shape())) return false;
  return c.terms().host_memory && key.bucket < 32 && staging <= static_cast<long long>(c.terms().staging_max);
}

}  // namespace

std::vector<Offers::Counted> Offers::count_exchanges(const plan::Shape& shape) {
  std::vector<Counted> all;
  for (const plan::Strategy& s : plan::strategies())
    if (s.applies(shape)) all.push_back({{.exchange = &s}, plan::traffic(s, shape), 0});
  return all;
}

/// Every depth of a pipeline is a way of its own. Who the root is makes little difference.
std::vector<Offers::Counted> Offers::count_segments(const plan::Shape& shape, plan::Operation operation) {
  std::vector<Counted> all;
  for (const plan::SegmentStrategy& s : plan::segment_strategies(operation)) {
    if (!s.applies(shape)) continue;
    const int most = plan::is_pipelined(s) ? plan::deepest : 1;
    for (int depth = 1; depth <= most; depth *= 2) {
      const plan::Parameters parameters{.depth = depth};
      all.push_back({{.segments = &s, .depth = depth},
                     plan::traffic(s, shape, parameters),
                     std::max(1, s.segments(shape, parameters))});
    }
  }
  return all;
}

/// Communicators of one shape share the counting.
const std::vector<Offers::Counted>& Offers::counted(const Communicator& c,
                                                    std::optional<plan::Operation> operation) {
  const std::lock_guard lock(mutex_);
  std::vector<Counted>& known = counted_[{c.size(), c.shape().signature(), operation}];
  if (known.empty()) known = operation ? count_segments(c.shape(), *operation) : count_exchanges(c.shape());
  return known;  // entries of a map stay where they are
}

/// Bytes of what a message carries whole numbers of: a block, or a segment.
long long Offers::unit_bytes(const Communicator& c, const CellKey& key, const Counted& way) {
  if (way.segments == 0) return largest(key);
  return (buffer_bytes(c, key, way.way.segments->operation) + way.segments - 1) / way.segments;
}

/// Whether every rank can go this way within its terms.
bool Offers::fits(const Communicator& c, const CellKey& key, const Counted& way) {
  const int slots = way.traffic.most_slots;
  if (way.way.exchange != nullptr) return exchange_fits(c, key, *way.way.exchange, slots);
  const plan::SegmentStrategy& s = *way.way.segments;
  return segments_fit(c, key, s, buffer_bytes(c, key, s.operation) + slots * unit_bytes(c, key, way));
}

Offered Offers::priced(const Communicator& c, const CellKey& key, const Counted& way) {
  return {way.way, plan::price(way.traffic, unit_bytes(c, key, way), plan::Machine{}).seconds};
}

/// Of each pipeline, the depth that takes least time.
std::vector<Offered> Offers::of(const Communicator& c, const CellKey& key) {
  std::vector<Offered> all;
  for (const Counted& way : counted(c, segment_operation(key.collective))) {
    if (!fits(c, key, way)) continue;
    const Offered offered = priced(c, key, way);
    if (all.empty() || all.back().way.name() != offered.way.name()) {
      all.push_back(offered);
    } else if (offered.predicted_s < all.back().predicted_s) {
      all.back() = offered;
    }
  }
  return all;
}

std::pair<std::optional<Way>, std::string_view> Offers::named(const Communicator& c, const CellKey& key,
                                                              std::string_view name) {
  const auto is_named = [=](const auto& offered) { return offered.way.name() == name; };
  const std::vector<Offered> possible = of(c, key);
  if (const auto found = std::ranges::find_if(possible, is_named); found != possible.end())
    return {found->way, ""};
  const bool applies = std::ranges::any_of(counted(c, segment_operation(key.collective)), is_named);
  return {std::nullopt,
          applies ? "the strategy asked for needs more staging than allowed, host memory or another order"
                  : "the strategy asked for does not exist or does not apply to these ranks"};
}

}  // namespace wherry::run
