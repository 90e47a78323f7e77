#include "schedule/segments/segment_verify.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "schedule/arithmetic.hpp"

namespace wherry::schedule {
namespace {

int count(const auto& list) { return static_cast<int>(list.size()); }

class FormCheck {
 public:
  FormCheck(const SegmentSchedule& s, Operation operation, int size, int rank)
      : s_(s), operation_(operation) {
    if (s.size != size || s.rank != rank)
      fail("is the schedule of rank " + std::to_string(s.rank) + " of " + std::to_string(s.size));
    if (count(s.steps) != count(s.phases)) fail("has not a step for each phase");
    check_segments();
    int sends = 0, receives = 0;
    for (phase_ = 0; phase_ < count(s.phases); ++phase_) {
      const Phase& phase = at(s.phases, phase_);
      check_phase(phase, sends, receives);
      for (const Transfer& t : s.sends_of(phase)) check_send(t);
      slots_.assign(static_cast<std::size_t>(std::max(0, s.slots)), 0);
      for (const Transfer& t : s.receives_of(phase)) check_receive(t, phase);
      sends += phase.sends;
      receives += phase.receives;
    }
    if (sends != count(s.sends) || receives != count(s.receives))
      fail("has messages that belong to no phase");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw schedule_error(place(s_.rank, phase_) + " " + what);
  }

  void check_segments() const {
    using enum Operation;
    const bool any = operation_ == bcast || operation_ == reduce || operation_ == allreduce;
    const int wanted = operation_ == barrier ? 0 : s_.size;
    if (any ? s_.segments < 1 : s_.segments != wanted)
      fail("has " + std::to_string(s_.segments) + " segments, which no " + std::string(name(operation_)) +
           " on " + std::to_string(s_.size) + " ranks has");
  }

  void check_phase(const Phase& p, int sends, int receives) const {
    const bool in_range = p.first_send == sends && p.sends >= 0 && p.first_receive == receives &&
                          p.receives >= 0 && p.first_send + p.sends <= count(s_.sends) &&
                          p.first_receive + p.receives <= count(s_.receives);
    if (!in_range) fail("names messages out of order or out of range");
    if (p.sends + p.receives == 0) fail("is empty");
    if (p.window < 0) fail("has a negative window");
    const int before = phase_ == 0 ? -1 : at(s_.steps, phase_ - 1);
    if (at(s_.steps, phase_) <= before)
      fail("is in step " + std::to_string(at(s_.steps, phase_)) + ", after step " + std::to_string(before));
  }

  void check_transfer(const Transfer& t) const {
    if (t.peer < 0 || t.peer >= s_.size || t.peer == s_.rank)
      fail("has a message with rank " + std::to_string(t.peer));
    if (t.count < 0 || t.first < 0 || t.first + t.count > count(s_.ranges))
      fail("has a message whose ranges are out of range");
    if ((t.count == 0) != (operation_ == Operation::barrier))
      fail("has a message of " + std::to_string(t.count) + " ranges with rank " + std::to_string(t.peer));
    for (const SegmentRange& r : s_.ranges_of(t))
      if (r.first < 0 || r.count < 1 || r.end() > s_.segments)
        fail("moves segments " + std::to_string(r.first) + " to " + std::to_string(r.end() - 1) + " of " +
             std::to_string(s_.segments));
  }

  void check_send(const Transfer& t) const {
    check_transfer(t);
    if (t.action != Action::replace || t.slot != at_home)
      fail("sends to rank " + std::to_string(t.peer) + " with an action, which only receives have");
  }

  void check_receive(const Transfer& t, const Phase& phase) {
    check_transfer(t);
    if (t.action == Action::replace) {
      if (t.slot != at_home) fail("receives from rank " + std::to_string(t.peer) + " in scratch, to replace");
      return;
    }
    if (!reduces(operation_))
      fail("combines what comes from rank " + std::to_string(t.peer) + ", which is no part of a " +
           std::string(name(operation_)));
    if (phase.window != 0) fail("combines under a window, while its sends may still read");
    const auto ranges = s_.ranges_of(t), first = s_.ranges_of(first_combined(phase));
    if (!std::equal(ranges.begin(), ranges.end(), first.begin(), first.end()))
      fail("combines other segments from rank " + std::to_string(t.peer) + " than from others");
    for (int i = 0; i < s_.carried(t); ++i) claim_slot(t.slot + i);
  }

  const Transfer& first_combined(const Phase& phase) const {
    const auto receives = s_.receives_of(phase);
    return *std::find_if(receives.begin(), receives.end(),
                         [](const Transfer& t) { return t.action != Action::replace; });
  }

  void claim_slot(int slot) {
    if (slot < 0 || slot >= s_.slots)
      fail("receives in scratch slot " + std::to_string(slot) + " of " + std::to_string(s_.slots));
    if (at(slots_, slot)++ > 0) fail("uses scratch slot " + std::to_string(slot) + " for two messages");
  }

  const SegmentSchedule& s_;
  Operation operation_;
  int phase_ = 0;
  std::vector<char> slots_;  // of the phase: used so far
};

std::string segments(std::span<const SegmentRange> ranges) {
  std::string text;
  for (const SegmentRange& r : ranges) {
    text += (text.empty() ? "" : ", ") + std::to_string(r.first);
    if (r.count > 1) text += "-" + std::to_string(r.end() - 1);
  }
  return "segments " + text;
}

}  // namespace

std::string place(int rank, int phase) {
  return "rank " + std::to_string(rank) + " phase " + std::to_string(phase);
}

void check_form(const SegmentSchedule& schedule, Operation operation, int size, int rank) {
  FormCheck(schedule, operation, size, rank);
}

void check_ends(std::span<const SegmentSchedule> schedules, const Pair& pair) {
  const auto& [send, receive] = pair;
  const SegmentSchedule& from = at(schedules, send.rank);
  const SegmentSchedule& to = at(schedules, receive.rank);
  const auto sent = from.ranges_of(at(from.sends, send.message));
  const auto expected = to.ranges_of(at(to.receives, receive.message));
  const std::string both =
      place(send.rank, send.phase) + " sends to " + place(receive.rank, receive.phase) + " ";
  if (!std::equal(sent.begin(), sent.end(), expected.begin(), expected.end()))
    throw schedule_error(both + segments(sent) + " where it expects " + segments(expected));
  const int sent_in = at(from.steps, send.phase), received_in = at(to.steps, receive.phase);
  if (sent_in != received_in)
    throw schedule_error(both + "in step " + std::to_string(sent_in) + ", which waits for it in step " +
                         std::to_string(received_in));
  const Phase& out = at(from.phases, send.phase);
  const Phase& in = at(to.phases, receive.phase);
  const int position = send.message - out.first_send, expected_position = receive.message - in.first_receive;
  if ((out.window != 0 || in.window != 0) && position != expected_position)
    throw schedule_error(both + "at position " + std::to_string(position) +
                         " of its window, which receives it at position " +
                         std::to_string(expected_position));
}

}  // namespace wherry::schedule
