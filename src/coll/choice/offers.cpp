#include "coll/choice/offers.hpp"

#include <algorithm>
#include <climits>

#include "base/floating_point.hpp"
#include "coll/state/neighborhood.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/staging_limits.hpp"

namespace wherry::run {

namespace {

tuning::Load load_of(const Communicator& c, const CellKey& key) { return {c.size(), largest(key)}; }

}  // namespace

/// Communicators of one placement share the counting.
const std::vector<tuning::Offer>& Offers::counted(const Communicator& c, const CellKey& key) {
  if (is_neighbourhood(key.collective)) return c.neighbourhood->offers();
  const std::optional<schedule::Operation> operation = schedule::segment_operation(key.collective);
  const std::lock_guard lock(mutex_);
  std::vector<tuning::Offer>& known = counted_[{c.size(), c.placement().signature(), operation}];
  if (known.empty()) known = tuning::survey(c.placement(), operation);
  return known;  // entries of a map stay where they are
}

std::vector<Offered> Offers::of(const Communicator& c, const CellKey& key, std::size_t staging_max) {
  const OwnArithmetic arithmetic;
  const tuning::Calls calls{key.collective, key.limit, load_of(c, key)};
  const tuning::Room room{static_cast<long long>(staging_max), c.terms().host_memory};
  const tuning::Allowed allowed = [&](const tuning::Offer& offer) {
    return tuning::fits(offer, calls, c.placement(), room);
  };
  const model::Machine machine = c.machine.value_or(model::Machine{});
  const std::vector<tuning::Priced> priced = tuning::priced(counted(c, key), calls.load, machine, allowed);
  const std::vector<double> expected = tuning::expected_seconds(priced, calls.load, machine);
  std::vector<Offered> all;
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const tuning::Offer& offer = *priced[i].offer;
    all.push_back({offer.way, priced[i].cost.seconds, expected[i], tuning::staging_bytes(offer, calls)});
  }
  return all;
}

long long Offers::staging_bytes(const Communicator& c, const CellKey& key, const Algorithm& way,
                                long long unit_bytes) {
  const OwnArithmetic arithmetic;
  tuning::Calls calls{key.collective, key.limit, load_of(c, key)};
  calls.load.unit_bytes = unit_bytes;
  const std::vector<tuning::Offer>& all = counted(c, key);
  const auto found = std::ranges::find(all, way, &tuning::Offer::way);
  return found == all.end() ? LLONG_MAX : tuning::staging_bytes(*found, calls);
}

std::pair<std::optional<Algorithm>, std::string_view> Offers::named(const Communicator& c, const CellKey& key,
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
