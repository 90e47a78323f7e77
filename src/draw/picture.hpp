// What a picture of a collective shows: the messages of all ranks, column by column.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/segment_schedule.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::draw {

/// One message: `from` sends so many blocks or segments to `to`.
struct Flow {
  int from;
  int to;
  int carried;
  std::string segments;   // which: "0-3,6"; empty where blocks are carried
  bool combined = false;  // with what the receiver has, instead of replacing it
};

/// What a rank has of a segment at the end of a column, and whether this column brought it.
struct Bar {
  enum class News { none, replaced, combined };
  double share = 0;  // of the ranks whose data must be in it in the end: 0 to 1
  News news = News::none;
};

/// The buffer of one rank, segment by segment.
using BarChart = std::vector<Bar>;

/// What happens at one time.
struct Column {
  std::vector<Flow> flows;           // by sender, then in posting order
  std::vector<BarChart> bar_charts;  // by rank; none where there are no segments
  int window = 0;
};

struct Picture {
  std::string_view time = "phase";     // what a column is
  std::string_view carried = "block";  // what messages carry
  int marked = 0;                      // the rank whose messages stand out: the root, if there is one
  std::vector<BarChart> before;        // by rank: what there is at first
  std::vector<Column> columns;
};

/// "3 messages per rank", "1-5 messages per rank"; over the ranks that send.
std::string messages_in(const Column& column);
/// "4 blocks each", "1-4 segments each", or "empty".
std::string carried_in(const Column& column, std::string_view thing);

/// Of a personalized all-to-all. The schedules must be valid (verify).
Picture picture_of(std::span<const schedule::Schedule> schedules);

/// "0-3,6": the segments of some ranges, in their order.
std::string text_of(std::span<const schedule::SegmentRange> ranges);

/// Of the schedules of all ranks, which must be valid (verify); columns are the steps in which something is sent.
Picture picture_of(std::span<const schedule::SegmentSchedule> schedules, schedule::Operation operation,
                   int root);

}  // namespace wherry::draw
