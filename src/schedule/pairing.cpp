#include "schedule/pairing.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "schedule/segment_schedule.hpp"

namespace wherry::schedule {
namespace {

/// One end of a message, by the two ranks that it joins.
struct Directed {
  int from;
  int to;
  End end;
  bool same_ranks(const Directed& other) const { return from == other.from && to == other.to; }
};

bool before(const Directed& a, const Directed& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); }

enum class Side { send, receive };

/// The messages of a rank are numbered in the order of time.
bool before_in_time(const Directed& a, const Directed& b) {
  return std::tie(a.from, a.to, a.end.message) < std::tie(b.from, b.to, b.end.message);
}

/// All ends of one side, by the ranks they join; ends of the same two ranks stay in the order of time.
template <class AnySchedule>
std::vector<Directed> ends(std::span<const AnySchedule> schedules, Side side) {
  std::vector<Directed> found;
  for (const AnySchedule& s : schedules) {
    for (int p = 0; p < static_cast<int>(s.phases.size()); ++p) {
      const Phase& phase = s.phases[static_cast<std::size_t>(p)];
      const int first = side == Side::send ? phase.first_send : phase.first_receive;
      const int count = side == Side::send ? phase.sends : phase.receives;
      for (int m = first; m < first + count; ++m) {
        const bool sent = side == Side::send;
        const int peer = (sent ? s.sends : s.receives)[static_cast<std::size_t>(m)].peer;
        found.push_back({sent ? s.rank : peer, sent ? peer : s.rank, {s.rank, p, m}});
      }
    }
  }
  std::sort(found.begin(), found.end(), before_in_time);
  return found;
}

[[noreturn]] void report_single(const Directed& d, Side side) {
  const std::string phase = std::to_string(d.end.phase);
  const std::string from = std::to_string(d.from), to = std::to_string(d.to);
  throw schedule_error(
      side == Side::send
          ? "rank " + from + " phase " + phase + " sends to rank " + to + ", which does not receive it"
          : "rank " + to + " phase " + phase + " receives from rank " + from + ", which does not send it");
}

template <class AnySchedule>
std::vector<Pair> pair_ends(std::span<const AnySchedule> schedules) {
  const std::vector<Directed> sends = ends(schedules, Side::send);
  const std::vector<Directed> receives = ends(schedules, Side::receive);
  std::vector<Pair> pairs;
  pairs.reserve(sends.size());
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i == receives.size()) report_single(sends[i], Side::send);
    if (i == sends.size()) report_single(receives[i], Side::receive);
    if (!sends[i].same_ranks(receives[i]))
      before(sends[i], receives[i]) ? report_single(sends[i], Side::send)
                                    : report_single(receives[i], Side::receive);
    pairs.push_back({sends[i].end, receives[i].end});
  }
  return pairs;
}

}  // namespace

std::vector<Pair> pair_messages(std::span<const Schedule> schedules) { return pair_ends(schedules); }
std::vector<Pair> pair_messages(std::span<const SegmentSchedule> schedules) { return pair_ends(schedules); }

std::vector<std::vector<int>> columns_of_phases(std::span<const Schedule> schedules) {
  std::vector<std::vector<int>> columns;
  for (const Schedule& s : schedules) columns.emplace_back(s.phases.size(), 0);
  const auto at = [&](const End& e) -> int& {
    return columns[static_cast<std::size_t>(e.rank)][static_cast<std::size_t>(e.phase)];
  };
  // Columns only grow, up to the longest chain of phases that wait for each other.
  const std::vector<Pair> pairs = pair_messages(schedules);
  for (bool moved = true; moved;) {
    moved = false;
    const auto raise = [&](int& column, int to) {
      moved |= column < to;
      column = std::max(column, to);
    };
    for (std::vector<int>& row : columns)
      for (std::size_t p = 1; p < row.size(); ++p) raise(row[p], row[p - 1] + 1);
    for (const Pair& pair : pairs) {
      raise(at(pair.send), at(pair.receive));
      raise(at(pair.receive), at(pair.send));
    }
  }
  return columns;
}

}  // namespace wherry::schedule
