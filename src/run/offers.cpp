#include "run/offers.hpp"

#include <algorithm>
#include <climits>

#include "run/perform.hpp"

namespace wherry::run {

namespace {

choose::Load load_of(const Communicator& c, const CellKey& key) { return {c.size(), largest(key)}; }

/// Staging of an all-to-all on any rank; in place the data to send is copied as well.
std::size_t exchange_staging(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  if (key.collective != Collective::alltoall)
    return combined_staging(offer.traffic.most_slots, c.size(), key.bucket);
  const long long copied = key.limit == Limit::in_place ? c.size() * largest(key) : 0;
  return static_cast<std::size_t>(choose::staging_bytes(offer, load_of(c, key)) + copied);
}

bool exchange_fits(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  const plan::Strategy& s = *offer.way.exchange;
  const bool in_place = key.limit == Limit::in_place;
  if (key.collective != Collective::alltoall && in_place) return s.name == in_place_strategy;
  const bool copies = s.hops == plan::Hops::several || in_place;
  const std::size_t most = std::min<std::size_t>(c.terms().staging_max, INT_MAX);
  return !copies || (c.terms().host_memory && key.bucket < 32 && exchange_staging(c, key, offer) <= most);
}

bool segments_fit(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  if (key.limit == Limit::in_order && !offer.way.segments->keeps_order(c.shape())) return false;
  return c.terms().host_memory && key.bucket < 32 &&
         choose::staging_bytes(offer, load_of(c, key)) <= static_cast<long long>(c.terms().staging_max);
}

}  // namespace

/// Communicators of one shape share the counting.
const std::vector<choose::Offer>& Offers::counted(const Communicator& c, const CellKey& key) {
  const std::optional<plan::Operation> operation = segment_operation(key.collective);
  const std::lock_guard lock(mutex_);
  std::vector<choose::Offer>& known = counted_[{c.size(), c.shape().signature(), operation}];
  if (known.empty()) known = choose::survey(c.shape(), operation);
  return known;  // entries of a map stay where they are
}

/// Whether every rank can go this way within its terms.
bool Offers::fits(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  return offer.way.exchange != nullptr ? exchange_fits(c, key, offer) : segments_fit(c, key, offer);
}

std::vector<Offered> Offers::of(const Communicator& c, const CellKey& key) {
  const choose::Allowed allowed = [&](const choose::Offer& offer) { return fits(c, key, offer); };
  std::vector<Offered> all;
  for (const choose::Priced& p :
       choose::priced(counted(c, key), load_of(c, key), c.machine.value_or(plan::Machine{}), allowed))
    all.push_back({p.offer->way, p.cost.seconds});
  return all;
}

std::pair<std::optional<Way>, std::string_view> Offers::named(const Communicator& c, const CellKey& key,
                                                              std::string_view name) {
  const auto is_named = [=](const auto& offered) { return offered.way.name() == name; };
  const std::vector<Offered> possible = of(c, key);
  if (const auto found = std::ranges::find_if(possible, is_named); found != possible.end())
    return {found->way, ""};
  const bool applies = std::ranges::any_of(counted(c, key), is_named);
  return {std::nullopt,
          applies ? "the strategy asked for needs more staging than allowed, host memory or another order"
                  : "the strategy asked for does not exist or does not apply to these ranks"};
}

}  // namespace wherry::run
