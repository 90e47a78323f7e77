// What a rank of a simulation sends and copies, counted while it runs; copies take simulated time.
#pragma once

#include <simgrid/actor.h>

#include <optional>

#include "comm/channel.hpp"
#include "model/cost.hpp"
#include "schedule/segment_schedule.hpp"
#include "topology/placement.hpp"

namespace simulated {

/// What one rank did; as model::Cost counts.
struct Tally {
  long long messages = 0, messages_between = 0, bytes = 0, bytes_between = 0, copied_bytes = 0;
};

/// Where a rank runs, and how fast its memory is.
struct Place {
  const wherry::topology::Placement& placement;
  int rank;
  double copy_bytes_per_s;
};

// Of a message of so many bytes: the share that has to be packed, unpacked or combined.
inline long long copied_to_send(const wherry::schedule::Schedule& s, const wherry::schedule::Message& m,
                                long long bytes) {
  return m.count == 0 ? 0 : bytes / m.count * wherry::model::copies_to_send(s, m);
}
inline long long copied_on_arrival(const wherry::schedule::Schedule& s, const wherry::schedule::Message& m,
                                   long long bytes) {
  return m.count == 0 ? 0 : bytes / m.count * wherry::model::copies_on_arrival(s, m);
}
inline long long copied_to_send(const wherry::schedule::SegmentSchedule&, const wherry::schedule::Transfer& t,
                                long long bytes) {
  return t.count > 1 ? bytes : 0;
}
inline long long copied_on_arrival(const wherry::schedule::SegmentSchedule&,
                                   const wherry::schedule::Transfer& t, long long bytes) {
  return t.count > 1 || t.action != wherry::schedule::Action::replace ? bytes : 0;
}

/// A binding that counts its messages and lets copies take simulated time: SMPI lets them take none.
template <class Schedule, class Binding>
class Metered {
  using Message = typename decltype(Schedule::sends)::value_type;

 public:
  Metered(const Schedule& schedule, Binding& binding, const Place& place)
      : schedule_(schedule), binding_(binding), place_(place) {}

  std::optional<wherry::run::Piece> outgoing(const Message& m) {
    const std::optional<wherry::run::Piece> piece = binding_.outgoing(m);
    if (!piece) return piece;
    copy(copied_to_send(schedule_, m, piece->count));
    const bool between = !place_.placement.same_node(place_.rank, m.peer);
    ++tally_.messages;
    tally_.bytes += piece->count;
    tally_.messages_between += between;
    tally_.bytes_between += between ? piece->count : 0;
    return piece;
  }

  std::optional<wherry::run::Piece> incoming(const Message& m) { return binding_.incoming(m); }

  int arrived(const Message& m) {
    copy(copied_on_arrival(schedule_, m, binding_.incoming(m)->count));
    return binding_.arrived(m);
  }

  int phase_over()
    requires requires(Binding& b) { b.phase_over(); }
  {
    return binding_.phase_over();
  }

  const Tally& tally() const { return tally_; }

 private:
  void copy(long long bytes) {
    if (bytes == 0) return;
    tally_.copied_bytes += bytes;
    sg_actor_sleep_for(static_cast<double>(bytes) / place_.copy_bytes_per_s);
  }

  const Schedule& schedule_;
  Binding& binding_;
  const Place& place_;
  Tally tally_;
};

}  // namespace simulated
