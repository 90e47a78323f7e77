#include "tuning/staging_limits.hpp"

#include <algorithm>
#include <climits>

namespace wherry::tuning {
namespace {

// Larger blocks, or buffers, are left to the library.
constexpr long long most_bytes = 1LL << 30;

bool is_uniform(const Calls& calls) { return calls.collective == Collective::alltoall; }

schedule::Hops hops(const Offer& offer) {
  return offer.way.neighbours != nullptr ? offer.way.neighbours->hops : offer.way.exchange->hops;
}

/// Staging of what travels straight from and to the caller's memory is none.
bool stages(const Offer& offer, const Calls& calls) {
  return hops(offer) == schedule::Hops::several || calls.limit == Limit::in_place;
}

bool has_room(const Offer& offer, const Calls& calls, const Room& room) {
  return room.host_memory && calls.load.bytes <= most_bytes &&
         staging_bytes(offer, calls) <= room.staging_max;
}

bool exchange_fits(const Offer& offer, const Calls& calls, const Room& room) {
  const bool irregular = !is_uniform(calls) && offer.way.neighbours == nullptr;
  if (irregular && calls.limit == Limit::in_place) return offer.way.name() == in_place_strategy;
  // Bytes of a message are ints to MPI.
  const Room within{std::min<long long>(room.staging_max, INT_MAX), room.host_memory};
  return !stages(offer, calls) || has_room(offer, calls, within);
}

}  // namespace

long long combined_limit(long long average_bytes) {
  // Four times the average: a moderately uneven call stays combined; a multiple of 4 keeps messages aligned.
  constexpr long long least = 256, most = 64 << 10;
  return std::clamp(4 * std::min(average_bytes, most), least, most);
}

long long staging_bytes(const Offer& offer, const Calls& calls) {
  if (offer.way.segments != nullptr) return staging_bytes(offer, calls.load);
  const int slots = offer.traffic.most_slots, ranks = calls.load.ranks;
  if (!is_uniform(calls)) {
    // An edge's block is in one message of a phase; of an all-to-all, those that begin and end here travel as well.
    const int items = offer.way.neighbours != nullptr ? slots : 2 * (slots + ranks);
    return stages(offer, calls) ? combined_bytes(slots, items, combined_limit(calls.load.bytes)) : 0;
  }
  if (!stages(offer, calls)) return 0;
  // In place the data to send is copied as well.
  const long long copied = calls.limit == Limit::in_place ? ranks * calls.load.bytes : 0;
  return staging_bytes(offer, calls.load) + copied;
}

bool fits(const Offer& offer, const Calls& calls, const topology::Placement& placement, const Room& room) {
  if (offer.way.segments == nullptr) return exchange_fits(offer, calls, room);
  if (calls.limit == Limit::in_order && !offer.way.segments->keeps_order(placement)) return false;
  return has_room(offer, calls, room);
}

}  // namespace wherry::tuning
