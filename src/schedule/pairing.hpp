// Which receive meets which send, over the schedules of all ranks.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace wherry::schedule {

struct SegmentSchedule;

/// One end of a message: index `message` of the sends (or receives) of `rank`, in phase `phase`.
struct End {
  int rank;
  int phase;
  int message;
};

/// A message: where it is sent and where it is received.
struct Pair {
  End send;
  End receive;
};

/// Pairs the k-th send from one rank to another with the k-th receive there. Throws schedule_error, with
/// ranks and phases, if one of the two is missing. Ordered by sender, then receiver, then time.
std::vector<Pair> pair_messages(std::span<const Schedule> schedules);
std::vector<Pair> pair_messages(std::span<const SegmentSchedule> schedules);

/// Phases as columns: columns[rank][phase], so that both ends of a message are in the same column and a
/// rank's phases keep their order. Ranks rest in some columns. The schedules must be verified.
std::vector<std::vector<int>> columns_of_phases(std::span<const Schedule> schedules);

}  // namespace wherry::schedule
