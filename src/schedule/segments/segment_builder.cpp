#include "schedule/segments/segment_builder.hpp"

#include <algorithm>
#include <climits>
#include <tuple>

namespace wherry::schedule {

SegmentBuilder::SegmentBuilder(int size, int rank, int segments) {
  result_.size = size;
  result_.rank = rank;
  result_.segments = segments;
}

void SegmentBuilder::send(int step, int peer, const Ranges& ranges) {
  plan(sends_, step, peer, ranges, Action::replace);
}

void SegmentBuilder::receive(int step, int peer, const Ranges& ranges, Action action) {
  plan(receives_, step, peer, ranges, action);
}

void SegmentBuilder::plan(std::vector<Planned>& side, int step, int peer, const Ranges& ranges,
                          Action action) {
  const auto first = static_cast<int>(result_.ranges.size());
  result_.ranges.insert(result_.ranges.end(), ranges.list().begin(), ranges.list().end());
  const auto count = static_cast<int>(ranges.list().size());
  side.push_back({start_ + step,
                  static_cast<int>(side.size()),
                  {.peer = peer, .first = first, .count = count, .action = action, .slot = at_home}});
}

SegmentSchedule SegmentBuilder::finish() {
  const auto in_time = [](const Planned& a, const Planned& b) {
    return std::tie(a.step, a.number) < std::tie(b.step, b.number);
  };
  std::sort(sends_.begin(), sends_.end(), in_time);
  std::sort(receives_.begin(), receives_.end(), in_time);
  result_.sends.reserve(sends_.size());
  result_.receives.reserve(receives_.size());
  std::size_t sent = 0, received = 0;
  while (sent < sends_.size() || received < receives_.size()) {
    const int next_send = sent < sends_.size() ? sends_[sent].step : INT_MAX;
    const int next_receive = received < receives_.size() ? receives_[received].step : INT_MAX;
    build_phase(std::min(next_send, next_receive), sent, received);
  }
  return std::move(result_);
}

void SegmentBuilder::build_phase(int step, std::size_t& sent, std::size_t& received) {
  const auto first_send = static_cast<int>(sent), first_receive = static_cast<int>(received);
  for (; sent < sends_.size() && sends_[sent].step == step; ++sent)
    result_.sends.push_back(sends_[sent].transfer);
  int slots = 0;
  for (; received < receives_.size() && receives_[received].step == step; ++received) {
    Transfer& transfer = result_.receives.emplace_back(receives_[received].transfer);
    if (transfer.action == Action::replace) continue;
    transfer.slot = slots;
    slots += result_.carried(transfer);
  }
  result_.slots = std::max(result_.slots, slots);
  result_.phases.push_back({.first_send = first_send,
                            .sends = static_cast<int>(sent) - first_send,
                            .first_receive = first_receive,
                            .receives = static_cast<int>(received) - first_receive,
                            .window = window_});
  result_.steps.push_back(step);
}

}  // namespace wherry::schedule
