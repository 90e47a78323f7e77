#include "draw/picture.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "schedule/arithmetic.hpp"
#include "schedule/pairing.hpp"

namespace wherry::draw {
namespace {

/// A message with both its ends.
struct Arrival {
  Flow flow;
  std::span<const schedule::SegmentRange> ranges;
  int posted;  // among the sends of its rank
};

/// The messages of every step, by sender, then in posting order.
std::map<int, std::vector<Arrival>> arrivals_by_step(std::span<const schedule::SegmentSchedule> schedules) {
  std::map<int, std::vector<Arrival>> by_step;
  for (const schedule::Pair& pair : schedule::pair_messages(schedules)) {
    const schedule::SegmentSchedule& s = schedule::at(schedules, pair.send.rank);
    const schedule::Transfer& sent = schedule::at(s.sends, pair.send.message);
    const schedule::Transfer& received =
        schedule::at(schedule::at(schedules, pair.receive.rank).receives, pair.receive.message);
    const Flow flow{.from = pair.send.rank,
                    .to = pair.receive.rank,
                    .carried = s.carried(sent),
                    .segments = text_of(s.ranges_of(sent)),
                    .combined = received.action != schedule::Action::replace};
    by_step[schedule::at(s.steps, pair.send.phase)].push_back({flow, s.ranges_of(sent), pair.send.message});
  }
  for (auto& [step, arrivals] : by_step)
    std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::pair(a.flow.from, a.posted); });
  return by_step;
}

bool has_at_first(schedule::Operation operation, int root, int rank, int segment) {
  switch (operation) {
    case schedule::Operation::allgather:
    case schedule::Operation::gather: return segment == rank;
    case schedule::Operation::bcast:
    case schedule::Operation::scatter: return rank == root;
    default: return true;  // what is to be reduced
  }
}

/// What is in the buffers of all ranks, as the shares of a picture.
class Buffers {
 public:
  Buffers(schedule::Operation operation, int root, int ranks, int segments)
      : bar_charts_(static_cast<std::size_t>(ranks), BarChart(static_cast<std::size_t>(segments))) {
    const double own = schedule::reduces(operation) ? 1.0 / ranks : 1;
    for (int rank = 0; rank < ranks; ++rank)
      for (int segment = 0; segment < segments; ++segment)
        if (has_at_first(operation, root, rank, segment))
          schedule::at(schedule::at(bar_charts_, rank), segment).share = own;
  }

  /// All messages of a step leave before any of them arrives.
  void step(std::span<const Arrival> arrivals) {
    for (BarChart& bar_chart : bar_charts_)
      for (Bar& bar : bar_chart) bar.news = Bar::News::none;
    const std::vector<BarChart> sent = bar_charts_;
    for (const Arrival& a : arrivals)
      for (const schedule::SegmentRange& range : a.ranges)
        for (int segment = range.first; segment < range.end(); ++segment)
          arrive(schedule::at(schedule::at(bar_charts_, a.flow.to), segment),
                 schedule::at(schedule::at(sent, a.flow.from), segment), a.flow.combined);
  }

  const std::vector<BarChart>& bar_charts() const { return bar_charts_; }

 private:
  static void arrive(Bar& mine, const Bar& incoming, bool combined) {
    mine.share = combined ? mine.share + incoming.share : incoming.share;
    mine.news = combined ? Bar::News::combined : Bar::News::replaced;
  }

  std::vector<BarChart> bar_charts_;
};

/// The largest of its ranks'.
int window_in(std::span<const schedule::SegmentSchedule> schedules, int step) {
  int window = 0;
  for (const schedule::SegmentSchedule& s : schedules)
    for (std::size_t phase = 0; phase < s.phases.size(); ++phase)
      if (s.steps[phase] == step) window = std::max(window, s.phases[phase].window);
  return window;
}

}  // namespace

std::string text_of(std::span<const schedule::SegmentRange> ranges) {
  std::string text;
  for (const schedule::SegmentRange& range : ranges) {
    (text += text.empty() ? "" : ",") += std::to_string(range.first);
    if (range.count > 1) text += "-" + std::to_string(range.end() - 1);
  }
  return text;
}

Picture picture_of(std::span<const schedule::SegmentSchedule> schedules, schedule::Operation operation,
                   int root) {
  const int ranks = static_cast<int>(schedules.size());
  const int segments = schedules.empty() ? 0 : schedules.front().segments;
  Buffers buffers(operation, root, ranks, segments);
  Picture picture{.time = "step",
                  .carried = "segment",
                  .marked = schedule::has_root(operation) ? root : 0,
                  .before = segments > 0 ? buffers.bar_charts() : std::vector<BarChart>{},
                  .columns = {}};
  for (const auto& [step, arrivals] : arrivals_by_step(schedules)) {
    buffers.step(arrivals);
    Column column{.flows = {}, .bar_charts = {}, .window = window_in(schedules, step)};
    std::ranges::transform(arrivals, std::back_inserter(column.flows), &Arrival::flow);
    if (segments > 0) column.bar_charts = buffers.bar_charts();
    picture.columns.push_back(std::move(column));
  }
  return picture;
}

}  // namespace wherry::draw
