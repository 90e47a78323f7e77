#include "run/offers.hpp"

#include <algorithm>
#include <climits>

#include "base/floating_point.hpp"
#include "choose/staging.hpp"
#include "plan/segments/collectives.hpp"
#include "run/neighbours/neighbourhood.hpp"

namespace wherry::run {

namespace {

choose::Load load_of(const Communicator& c, const CellKey& key) { return {c.size(), largest(key)}; }

}  // namespace

/// Communicators of one shape share the counting.
const std::vector<choose::Offer>& Offers::counted(const Communicator& c, const CellKey& key) {
  if (is_neighbourhood(key.collective)) return c.neighbourhood->offers();
  const std::optional<plan::Operation> operation = plan::segment_operation(key.collective);
  const std::lock_guard lock(mutex_);
  std::vector<choose::Offer>& known = counted_[{c.size(), c.shape().signature(), operation}];
  if (known.empty()) known = choose::survey(c.shape(), operation);
  return known;  // entries of a map stay where they are
}

std::vector<Offered> Offers::of(const Communicator& c, const CellKey& key, std::size_t staging_max) {
  const OwnArithmetic arithmetic;
  const choose::Calls calls{key.collective, key.limit, load_of(c, key)};
  const choose::Room room{static_cast<long long>(staging_max), c.terms().host_memory};
  const choose::Allowed allowed = [&](const choose::Offer& offer) {
    return choose::fits(offer, calls, c.shape(), room);
  };
  const plan::Machine machine = c.machine.value_or(plan::Machine{});
  const std::vector<choose::Priced> priced = choose::priced(counted(c, key), calls.load, machine, allowed);
  const std::vector<double> expected = choose::expected_seconds(priced, calls.load, machine);
  std::vector<Offered> all;
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const choose::Offer& offer = *priced[i].offer;
    all.push_back({offer.way, priced[i].cost.seconds, expected[i], choose::staging_bytes(offer, calls)});
  }
  return all;
}

long long Offers::staging_bytes(const Communicator& c, const CellKey& key, const Way& way,
                                long long unit_bytes) {
  const OwnArithmetic arithmetic;
  choose::Calls calls{key.collective, key.limit, load_of(c, key)};
  calls.load.unit_bytes = unit_bytes;
  const std::vector<choose::Offer>& all = counted(c, key);
  const auto found = std::ranges::find(all, way, &choose::Offer::way);
  return found == all.end() ? LLONG_MAX : choose::staging_bytes(*found, calls);
}

std::pair<std::optional<Way>, std::string_view> Offers::named(const Communicator& c, const CellKey& key,
                                                              std::string_view name) {
  const OwnArithmetic arithmetic;
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
