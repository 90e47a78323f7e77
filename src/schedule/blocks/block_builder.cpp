#include "schedule/blocks/block_builder.hpp"

#include <algorithm>
#include <climits>

#include "schedule/arithmetic.hpp"

namespace wherry::schedule {

namespace {

/// Sorts the blocks of a message by when they leave its receiver again; 5 bits.
///
/// Slots that fall free together should lie together. Those that leave early are last in what lands in even
/// phases and first in what lands in odd ones, so that the holes of neighbors merge: Bruck on 1024 ranks
/// needs 3.2 P slots, instead of 5.5 P without this order.
unsigned long long departure(const Hop* hop, const Hop* end) {
  constexpr int late = 31;
  const int stay = hop + 1 == end ? 0 : std::min(late, hop[1].phase - hop->phase);
  return static_cast<unsigned long long>(hop->phase % 2 != 0 ? stay : late - stay);
}

}  // namespace

Builder::Builder(int size, int rank, Pace pace) : pace_(pace) {
  result_.size = size;
  result_.rank = rank;
}

/// The hop *hop of a block, `end` being the end of its route. The key of an item has room for 2^29 ranks.
Builder::Leg Builder::leg(Block block, const Hop* hop, const Hop* end, int from, int stay) const {
  const int size = result_.size, to = hop->to;
  const auto distance = [=](int a, int b) { return static_cast<unsigned long long>(wrap(b - a, size)); };
  const auto phase = static_cast<unsigned long long>(hop->phase);
  return {.message = phase << 32 | distance(from, to),
          .item = departure(hop, end) << 58 | distance(to, block.destination) << 29 |
                  distance(block.destination, block.origin),
          .block = block,
          .peer = from == result_.rank ? to : from,
          .stay = stay};
}

void Builder::add(Block block, const Route& route) {
  const int rank = result_.rank;
  int holder = block.origin;
  int stay = none;
  for (const Hop* hop = route.begin(); hop != route.end(); ++hop) {
    if (holder == rank) sends_.push_back(leg(block, hop, route.end(), holder, stay));
    if (hop->to == rank) {
      if (rank != block.destination) {
        stay = static_cast<int>(slot_of_stay_.size());
        slot_of_stay_.push_back(at_home);
      }
      receives_.push_back(leg(block, hop, route.end(), holder, stay));
    }
    holder = hop->to;
  }
}

int Builder::slot_of(const Leg& leg) const {
  return leg.stay == none ? at_home : slot_of_stay_[static_cast<std::size_t>(leg.stay)];
}

/// The slot of a message to send: where its blocks lie already if they lie in order, or a place to gather
/// them.
int Builder::gathered(const Leg* first, const Leg* last) {
  const int start = slot_of(*first);
  bool in_order = start != at_home;
  for (const Leg* l = first; in_order && l != last; ++l)
    in_order = slot_of(*l) == start + static_cast<int>(l - first);
  if (in_order) return start;
  const int count = static_cast<int>(last - first);
  const int slot = slots_.take(count);
  for (int i = 0; i < count; ++i) freed_.push_back(slot + i);
  return slot;
}

Message Builder::send(const Leg* first, const Leg* last) {
  const int count = static_cast<int>(last - first);
  const Message message{.peer = first->peer,
                        .first = static_cast<int>(result_.items.size()),
                        .count = count,
                        .slot = count == 1 ? at_home : gathered(first, last)};
  for (const Leg* l = first; l != last; ++l) {
    const int slot = slot_of(*l);
    result_.items.push_back({l->block, slot});
    if (slot != at_home) freed_.push_back(slot);
  }
  return message;
}

Message Builder::receive(const Leg* first, const Leg* last) {
  const int count = static_cast<int>(last - first);
  const bool lands_in_staging = count > 1 || first->stay != none;
  const int slot = lands_in_staging ? slots_.take(count) : at_home;
  for (const Leg* l = first; l != last; ++l) {
    const int mine = lands_in_staging ? slot + static_cast<int>(l - first) : at_home;
    result_.items.push_back({l->block, mine});
    if (l->stay != none) slot_of_stay_[static_cast<std::size_t>(l->stay)] = mine;
    else if (mine != at_home) freed_.push_back(mine);
  }
  return {.peer = first->peer,
          .first = static_cast<int>(result_.items.size()) - count,
          .count = count,
          .slot = count == 1 ? at_home : slot};
}

/// Builds the phase that comes next in either list; both indices move past it.
void Builder::build_phase(std::size_t& sent, std::size_t& received) {
  int now = INT_MAX;
  if (sent < sends_.size()) now = schedule_phase(sends_[sent]);
  if (received < receives_.size()) now = std::min(now, schedule_phase(receives_[received]));

  const auto each_message = [&](const Legs& legs, std::size_t& at, auto&& take) {
    while (at < legs.size() && schedule_phase(legs[at]) == now) {
      const std::size_t first = at;
      while (at < legs.size() && legs[at].message == legs[first].message) ++at;
      take(legs.data() + first, legs.data() + at);
    }
  };
  Phase phase{.first_send = static_cast<int>(result_.sends.size()),
              .sends = 0,
              .first_receive = static_cast<int>(result_.receives.size()),
              .receives = 0,
              .window = pace_ == in_phases ? 0 : pace_};
  // Receives first: what lands may stay for several phases, what is gathered leaves at the end of this one,
  // and long lives at low slots leave fewer holes.
  each_message(receives_, received, [&](const Leg* first, const Leg* last) {
    result_.receives.push_back(receive(first, last));
    ++phase.receives;
  });
  each_message(sends_, sent, [&](const Leg* first, const Leg* last) {
    result_.sends.push_back(send(first, last));
    ++phase.sends;
  });
  result_.phases.push_back(phase);

  // A message may be sent from where its blocks landed: each such slot was noted once, as an item's.
  slots_.give_back(freed_);
  freed_.clear();
}

Schedule Builder::finish() {
  const auto in_order = [](const Leg& a, const Leg& b) {
    return a.message != b.message ? a.message < b.message : a.item < b.item;
  };
  std::sort(sends_.begin(), sends_.end(), in_order);
  std::sort(receives_.begin(), receives_.end(), in_order);
  result_.items.reserve(sends_.size() + receives_.size());
  for (std::size_t sent = 0, received = 0; sent < sends_.size() || received < receives_.size();)
    build_phase(sent, received);
  result_.slots = slots_.high_water();
  return std::move(result_);
}

Schedule derive(RouteOf route, Pace pace, const topology::Placement& placement, int rank) {
  Builder builder(placement.size(), rank, pace);
  for (int origin = 0; origin < placement.size(); ++origin) {
    for (int destination = 0; destination < placement.size(); ++destination) {
      const Block block{origin, destination};
      if (origin != destination) builder.add(block, route(placement, block));
    }
  }
  return builder.finish();
}

}  // namespace wherry::schedule
