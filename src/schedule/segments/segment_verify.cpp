#include "schedule/segments/segment_verify.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/pairing.hpp"
#include "schedule/segments/association.hpp"

namespace wherry::schedule {
namespace {

using Tree = Associations::Tree;

// ---- What the operations promise

/// A rank's segment at the start or in the end: who has it?
using Has = bool (*)(int rank, int segment, int root);

bool own(int rank, int segment, int) { return rank == segment; }
bool root(int rank, int, int root) { return rank == root; }
bool everybody(int, int, int) { return true; }

struct Rule {
  Operation operation;
  Has starts_with;
  Has ends_with;
};

constexpr Rule rules[] = {
    {Operation::allgather, own, everybody},
    {Operation::bcast, root, everybody},
    {Operation::gather, own, root},
    {Operation::scatter, root, own},
    {Operation::reduce, everybody, root},
    {Operation::allreduce, everybody, everybody},
    {Operation::reduce_scatter, everybody, own},
};

const Rule& rule_of(Operation operation) {
  return *std::find_if(std::begin(rules), std::end(rules),
                       [=](const Rule& r) { return r.operation == operation; });
}

// ---- Running all ranks, step by step

/// For each rank, where each of its receives comes from.
using Sources = std::vector<std::vector<End>>;

Sources sources_of(std::span<const SegmentSchedule> schedules, std::span<const Pair> pairs) {
  Sources sources;
  for (const SegmentSchedule& s : schedules) sources.emplace_back(s.receives.size());
  for (const Pair& pair : pairs) at(at(sources, pair.receive.rank), pair.receive.message) = pair.send;
  return sources;
}

/// Calls visit(ranks) for each step in which somebody does something, with the ranks and their phases of that step.
template <class Visit>
void for_steps(std::span<const SegmentSchedule> schedules, Visit&& visit) {
  struct Event {
    int step, rank, phase;
  };
  std::vector<Event> events;
  for (const SegmentSchedule& s : schedules)
    for (int p = 0; p < static_cast<int>(s.phases.size()); ++p) events.push_back({at(s.steps, p), s.rank, p});
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.step, a.rank) < std::tie(b.step, b.rank);
  });
  for (auto first = events.begin(); first != events.end();) {
    const auto last =
        std::find_if(first, events.end(), [=](const Event& e) { return e.step != first->step; });
    visit(std::span<const Event>(first, last));
    first = last;
  }
}

template <class Visit>
void for_segments(const SegmentSchedule& s, const Transfer& t, Visit&& visit) {
  for (const SegmentRange& range : s.ranges_of(t))
    for (int segment = range.first; segment < range.end(); ++segment) visit(segment);
}

class DataCheck {
 public:
  DataCheck(const Claim& claim, std::span<const SegmentSchedule> schedules, const Sources& sources)
      : claim_(claim),
        rule_(rule_of(claim.operation)),
        schedules_(schedules),
        sources_(sources),
        associations_(static_cast<int>(schedules.size())) {
    start();
    for_steps(schedules, [&](auto events) {
      for (const auto& e : events) check_claims(at(schedules_, e.rank), e.phase);
      arriving_.clear();
      for (const auto& e : events) collect(at(schedules_, e.rank), e.phase);
      arrived_ = 0;
      for (const auto& e : events) apply(at(schedules_, e.rank), e.phase);
    });
    check_end();
  }

 private:
  /// What a phase does with a segment; the numbers of the last phases that did.
  struct Use {
    int sent = 0;
    int replaced = 0;
    int combined = 0;
  };

  [[noreturn]] static void fail(const SegmentSchedule& s, int phase, const std::string& what) {
    throw schedule_error(place(s.rank, phase) + " " + what);
  }

  void start() {
    for (const SegmentSchedule& s : schedules_) {
      std::vector<Tree>& held =
          held_.emplace_back(static_cast<std::size_t>(s.segments), Associations::nothing);
      for (int segment = 0; segment < s.segments; ++segment)
        if (rule_.starts_with(s.rank, segment, claim_.root))
          at(held, segment) = associations_.data_of(s.rank);
    }
    uses_.resize(static_cast<std::size_t>(schedules_.front().segments));
    behind_.resize(uses_.size(), Associations::nothing);
  }

  /// Everything in a phase may happen at once, but for combining, which comes last.
  void check_claims(const SegmentSchedule& s, int phase) {
    const auto& held = at(held_, s.rank);
    const Phase& p = at(s.phases, phase);
    ++now_;
    for (const Transfer& t : s.sends_of(p))
      for_segments(s, t, [&](int segment) {
        if (at(held, segment) == Associations::nothing)
          fail(s, phase, "sends segment " + std::to_string(segment) + ", of which it holds nothing");
        at(uses_, segment).sent = now_;
      });
    for (const Transfer& t : s.receives_of(p))
      for_segments(s, t, [&](int segment) {
        if (t.action == Action::replace) claim_replacing(s, phase, segment);
        else claim_combining(s, phase, segment);
      });
  }

  void claim_replacing(const SegmentSchedule& s, int phase, int segment) {
    Use& use = at(uses_, segment);
    if (use.sent == now_)
      fail(s, phase, "receives segment " + std::to_string(segment) + " over what it sends in the same phase");
    if (use.replaced == now_ || use.combined == now_)
      fail(s, phase, "receives segment " + std::to_string(segment) + " twice");
    use.replaced = now_;
  }

  /// There is always something to combine with: in a reduction everybody starts with all segments.
  void claim_combining(const SegmentSchedule& s, int phase, int segment) {
    Use& use = at(uses_, segment);
    if (use.replaced == now_) fail(s, phase, "receives segment " + std::to_string(segment) + " twice");
    use.combined = now_;
  }

  void collect(const SegmentSchedule& s, int phase) {
    const Phase& p = at(s.phases, phase);
    for (int m = p.first_receive; m < p.first_receive + p.receives; ++m) {
      const auto& sender = at(held_, at(at(sources_, s.rank), m).rank);
      for_segments(s, at(s.receives, m), [&](int segment) { arriving_.push_back(at(sender, segment)); });
    }
  }

  void apply(const SegmentSchedule& s, int phase) {
    auto& held = at(held_, s.rank);
    bool holding = false;
    for (const Transfer& t : s.receives_of(at(s.phases, phase))) {
      if (t.action == Action::hold) holding = true;
      if (t.action == Action::combine_after) holding = false;
      for_segments(s, t, [&](int segment) {
        Arrival arrival{s, phase, segment, arriving_[arrived_++]};
        at(held, segment) = after(arrival, t.action, at(held, segment));
      });
    }
    if (holding) fail(s, phase, "holds what it receives and never combines it");
  }

  struct Arrival {
    const SegmentSchedule& s;
    int phase;
    int segment;
    Tree incoming;
  };

  /// What a segment is after an arrival.
  Tree after(const Arrival& a, Action action, Tree mine) {
    if (action == Action::replace) return a.incoming;
    if (action == Action::combine_before) return combined(a, a.incoming, mine);
    Tree& behind = at(behind_, a.segment);
    const Tree together = behind == Associations::nothing ? a.incoming : combined(a, a.incoming, behind);
    behind = action == Action::hold ? together : Associations::nothing;
    return action == Action::hold ? mine : combined(a, mine, together);
  }

  Tree combined(const Arrival& a, Tree left, Tree right) {
    if (const int rank = associations_.common_rank(left, right); rank >= 0)
      fail(a.s, a.phase,
           "combines rank " + std::to_string(rank) + "'s data into segment " + std::to_string(a.segment) +
               " a second time");
    return associations_.combined(left, right);
  }

  void check_end() const {
    for (const SegmentSchedule& s : schedules_)
      for (int segment = 0; segment < s.segments; ++segment)
        if (rule_.ends_with(s.rank, segment, claim_.root)) check_end(s.rank, segment);
  }

  void check_end(int rank, int segment) const {
    const Tree term = at(at(held_, rank), segment);
    const auto complain = [&](const std::string& what) {
      throw schedule_error("rank " + std::to_string(rank) + " ends with " + what + " in segment " +
                           std::to_string(segment));
    };
    if (term == Associations::nothing) complain("nothing");
    // Both ends of a message name the same segments, so nothing but its own data can be in a segment.
    if (!reduces(claim_.operation)) return;
    if (!associations_.is_complete(term))
      complain("the data of " + std::to_string(associations_.leaves(term)) + " ranks of " +
               std::to_string(schedules_.size()));
    if (claim_.keeps_order && !associations_.is_in_order(term)) complain("a reduction out of rank order");
    if (claim_.operation == Operation::allreduce && term != at(at(held_, 0), segment))
      complain("a reduction that was grouped otherwise than rank 0's");
  }

  const Claim& claim_;
  const Rule& rule_;
  std::span<const SegmentSchedule> schedules_;
  const Sources& sources_;
  Associations associations_;
  std::vector<std::vector<Tree>> held_;  // by rank and segment
  std::vector<Use> uses_;                // by segment, of the phase that is looked at
  int now_ = 0;                          // number of that phase
  std::vector<Tree> behind_;             // by segment, what the phase holds
  std::vector<Tree> arriving_;           // in this step, in the order of receives
  std::size_t arrived_ = 0;
};

// ---- Barriers: nothing is held, but who has heard, directly or not, that whom has entered?

void check_all_heard(std::span<const SegmentSchedule> schedules, const Sources& sources) {
  const int size = static_cast<int>(schedules.size());
  using Heard = std::vector<char>;
  std::vector<Heard> heard(schedules.size(), Heard(schedules.size(), 0));
  for (int rank = 0; rank < size; ++rank) at(at(heard, rank), rank) = 1;
  for_steps(schedules, [&](auto events) {
    const std::vector<Heard> before = heard;
    for (const auto& e : events) {
      const Phase& p = at(at(schedules, e.rank).phases, e.phase);
      for (int m = p.first_receive; m < p.first_receive + p.receives; ++m) {
        const Heard& told = at(before, at(at(sources, e.rank), m).rank);
        for (int rank = 0; rank < size; ++rank) at(at(heard, e.rank), rank) |= at(told, rank);
      }
    }
  });
  for (int rank = 0; rank < size; ++rank)
    for (int other = 0; other < size; ++other)
      if (!at(at(heard, rank), other))
        throw schedule_error("rank " + std::to_string(rank) + " leaves the barrier before rank " +
                             std::to_string(other) + " has entered it");
}

void check_same_segments(std::span<const SegmentSchedule> schedules) {
  for (const SegmentSchedule& s : schedules)
    if (s.segments != schedules.front().segments)
      throw schedule_error("rank " + std::to_string(s.rank) + " has " + std::to_string(s.segments) +
                           " segments, rank 0 has " + std::to_string(schedules.front().segments));
}

}  // namespace

void verify(const Claim& claim, std::span<const SegmentSchedule> schedules) {
  const int size = static_cast<int>(schedules.size());
  for (int rank = 0; rank < size; ++rank) check_form(at(schedules, rank), claim.operation, size, rank);
  check_same_segments(schedules);
  const std::vector<Pair> pairs = pair_messages(schedules);
  for (const Pair& pair : pairs) check_ends(schedules, pair);
  const Sources sources = sources_of(schedules, pairs);
  if (claim.operation == Operation::barrier) check_all_heard(schedules, sources);
  else DataCheck(claim, schedules, sources);
}

}  // namespace wherry::schedule
