// The verifier of segment schedules must find what is broken: schedules that are valid but for one change.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "schedule/segments/segment_verify.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using wherry::schedule_error;

namespace {

using enum Operation;
using Schedules = std::vector<SegmentSchedule>;

Schedules valid(Operation operation, std::string_view name, int size, Parameters parameters = {}) {
  const SegmentStrategy* s = find_strategy(operation, name);
  REQUIRE(s != nullptr);
  return schedules(*s, Placement::flat(size), parameters);
}

std::string complaint(const Claim& claim, const Schedules& all) {
  try {
    verify(claim, all);
    return "no complaint";
  } catch (const schedule_error& error) {
    return error.what();
  }
}

/// Schedules of the test's own making: every message is {step, from, to, segments, action}.
struct Said {
  int step;
  int from;
  int to;
  Ranges ranges;
  Action action = Action::replace;
};

Schedules told(int size, int segments, const std::vector<Said>& messages, int window = 0) {
  Schedules all;
  for (int rank = 0; rank < size; ++rank) {
    SegmentBuilder b(size, rank, segments);
    b.limit(window);
    for (const Said& m : messages) {
      if (m.from == rank) b.send(m.step, m.to, m.ranges);
      if (m.to == rank) b.receive(m.step, m.from, m.ranges, m.action);
    }
    all.push_back(b.finish());
  }
  return all;
}

constexpr Action before = Action::combine_before, after = Action::combine_after;

}  // namespace

TEST_CASE("Segments verify: what a hand-written schedule needs to pass") {
  CHECK(complaint({allreduce}, told(2, 1, {{0, 0, 1, {0, 1}, before}, {0, 1, 0, {0, 1}, after}})) ==
        "no complaint");
  CHECK(complaint({bcast, 1}, told(3, 1, {{0, 1, 0, {0, 1}}, {0, 1, 2, {0, 1}}})) == "no complaint");
  CHECK(complaint({barrier}, told(2, 0, {{0, 0, 1, {}}, {0, 1, 0, {}}})) == "no complaint");
}

TEST_CASE("Segments verify: a rank sends what it does not hold") {
  CHECK(complaint({bcast}, told(3, 2, {{0, 0, 1, {0, 1}}, {1, 1, 2, {0, 2}}})) ==
        "rank 1 phase 1 sends segment 1, of which it holds nothing");
  // What arrives in a phase is there only when the phase is over.
  CHECK(complaint({bcast}, told(3, 1, {{0, 0, 1, {0, 1}}, {0, 1, 2, {0, 1}}})) ==
        "rank 1 phase 0 sends segment 0, of which it holds nothing");
}

TEST_CASE("Segments verify: a rank combines where nothing is reduced") {
  CHECK(complaint({gather}, told(2, 2, {{0, 1, 0, {1, 1}, before}})) ==
        "rank 0 phase 0 combines what comes from rank 1, which is no part of a gather");
}

TEST_CASE("Segments verify: a rank gets nothing, or the wrong data") {
  CHECK(complaint({bcast}, told(3, 2, {{0, 0, 1, {0, 2}}, {0, 0, 2, {0, 1}}})) ==
        "rank 2 ends with nothing in segment 1");
  CHECK(complaint({reduce}, told(3, 1, {{0, 1, 0, {0, 1}, after}})) ==
        "rank 0 ends with the data of 2 ranks of 3 in segment 0");
  CHECK(complaint({allreduce}, told(2, 1, {{0, 0, 1, {0, 1}}, {1, 1, 0, {0, 1}}})) ==
        "rank 0 ends with the data of 1 ranks of 2 in segment 0");
  CHECK(complaint({reduce_scatter}, told(2, 2, {{0, 0, 1, {1, 1}, before}})) ==
        "rank 0 ends with the data of 1 ranks of 2 in segment 0");
  // Two roots: what rank 2 gets is rank 1's, though rank 0 was asked for.
  CHECK(complaint({scatter, 1}, valid(scatter, "linear", 3, {.root = 0}))
            .find("rank 0 phase 0 sends segment") == 0);
}

TEST_CASE("Segments verify: data is reduced twice") {
  CHECK(
      complaint({reduce},
                told(3, 1, {{0, 1, 0, {0, 1}, after}, {0, 2, 0, {0, 1}, after}, {1, 1, 0, {0, 1}, after}})) ==
      "rank 0 phase 1 combines rank 1's data into segment 0 a second time");
}

TEST_CASE("Segments verify: the order of ranks is claimed but not kept") {
  const Schedules swapped = told(3, 1, {{0, 2, 0, {0, 1}, after}, {0, 1, 0, {0, 1}, after}});
  CHECK(complaint({reduce}, swapped) == "no complaint");
  CHECK(complaint({reduce, 0, true}, swapped) ==
        "rank 0 ends with a reduction out of rank order in segment 0");
}

TEST_CASE("Segments verify: ranks group a reduction differently") {
  const Schedules ordered_otherwise = told(2, 1, {{0, 0, 1, {0, 1}, after}, {0, 1, 0, {0, 1}, after}});
  CHECK(complaint({allreduce}, ordered_otherwise) ==
        "rank 1 ends with a reduction that was grouped otherwise than rank 0's in segment 0");
  // The same order, but rank 0 has (0 op 1) op 2 where rank 1 has 0 op (1 op 2).
  const Ranges all{0, 1};
  const std::vector<Said> grouped = {{0, 1, 0, all, after},
                                     {0, 2, 1, all, after},
                                     {0, 0, 1, all, before},
                                     {1, 2, 0, all, after},
                                     {2, 0, 2, all}};
  CHECK(complaint({allreduce, 0, true}, told(3, 1, grouped)) ==
        "rank 1 ends with a reduction that was grouped otherwise than rank 0's in segment 0");
}

TEST_CASE("Segments verify: what is held is grouped alike, wherever mine is") {
  const Ranges all{0, 1};
  const auto with = [&](Action at_rank_0) {
    return complaint({allreduce, 0, true}, told(3, 1,
                                                {{0, 2, 0, all, at_rank_0},  // 0 op (1 op 2)
                                                 {0, 1, 0, all, after},
                                                 {0, 2, 1, all, after},  // 0 op (1 op 2)
                                                 {0, 0, 1, all, before},
                                                 {0, 1, 2, all, before},  // 0 op (1 op 2)
                                                 {0, 0, 2, all, before}}));
  };
  CHECK(with(Action::hold) == "no complaint");
  CHECK(with(after) == "rank 0 ends with a reduction out of rank order in segment 0");
  CHECK(complaint({reduce}, told(2, 1, {{0, 1, 0, all, Action::hold}})) ==
        "rank 0 phase 0 holds what it receives and never combines it");
  CHECK(complaint({reduce}, told(3, 1, {{0, 2, 0, all, Action::hold}, {0, 1, 0, all, before}})) ==
        "rank 0 phase 0 holds what it receives and never combines it");
}

TEST_CASE("Segments verify: a phase combines several things") {
  CHECK(complaint({reduce}, told(3, 2, {{0, 2, 0, {0, 1}, after}, {0, 1, 0, {0, 2}, after}})) ==
        "rank 0 phase 0 combines other segments from rank 1 than from others");
}

TEST_CASE("Segments verify: a receive over what is being sent") {
  CHECK(complaint({allreduce}, told(2, 1, {{0, 0, 1, {0, 1}}, {0, 1, 0, {0, 1}}})) ==
        "rank 0 phase 0 receives segment 0 over what it sends in the same phase");
}

TEST_CASE("Segments verify: a receive over another") {
  CHECK(complaint({gather}, told(3, 3, {{0, 1, 0, {1, 1}}, {0, 2, 0, {2, 1}}, {0, 1, 0, {1, 1}}})) ==
        "rank 0 phase 0 receives segment 1 twice");
  CHECK(complaint({reduce}, told(3, 1, {{0, 1, 0, {0, 1}, after}, {0, 2, 0, {0, 1}}})) ==
        "rank 0 phase 0 receives segment 0 twice");
  CHECK(complaint({reduce}, told(3, 1, {{0, 1, 0, {0, 1}}, {0, 2, 0, {0, 1}, after}})) ==
        "rank 0 phase 0 receives segment 0 twice");
}

TEST_CASE("Segments verify: the ends of a message disagree") {
  Schedules all = valid(allgather, "bruck", 6);
  all[2].ranges[static_cast<std::size_t>(all[2].receives[1].first)].first = 1;
  CHECK(complaint({allgather}, all) ==
        "rank 4 phase 1 sends to rank 2 phase 1 segments 4-5 where it expects segments 1-2");
  all = valid(allgather, "ring", 4);
  all[2].receives[0].peer = 3;
  CHECK(complaint({allgather}, all) == "rank 1 phase 2 sends to rank 2, which does not receive it");
}

TEST_CASE("Segments verify: ranks that wait for each other") {
  // Each first receives from the one before and only then sends to the one after.
  Schedules all;
  for (int rank = 0; rank < 3; ++rank) {
    SegmentBuilder b(3, rank, 0);
    b.receive(0, (rank + 2) % 3, {});
    b.send(1, (rank + 1) % 3, {});
    all.push_back(b.finish());
  }
  CHECK(complaint({barrier}, all) ==
        "rank 0 phase 1 sends to rank 1 phase 0 in step 1, which waits for it in step 0");
  all = valid(allgather, "ring", 4);
  all[1].steps = {0, 2, 1};
  CHECK(complaint({allgather}, all) == "rank 1 phase 2 is in step 1, after step 2");
}

TEST_CASE("Segments verify: a window that is too narrow for the order of the messages") {
  const std::vector<Said> crossed = {{0, 0, 1, {0, 1}}, {0, 0, 2, {0, 1}}, {0, 2, 1, {2, 1}},
                                     {0, 1, 0, {1, 1}}, {0, 2, 0, {2, 1}}, {0, 1, 2, {1, 1}}};
  CHECK(complaint({allgather}, told(3, 3, crossed)) == "no complaint");
  CHECK(
      complaint({allgather}, told(3, 3, crossed, 1)) ==
      "rank 0 phase 0 sends to rank 2 phase 0 at position 1 of its window, which receives it at position 0");
  CHECK(complaint({allreduce}, told(2, 1, {{0, 0, 1, {0, 1}, before}, {0, 1, 0, {0, 1}, after}}, 1)) ==
        "rank 0 phase 0 combines under a window, while its sends may still read");
}

TEST_CASE("Segments verify: a barrier that somebody leaves too early") {
  CHECK(complaint({barrier}, told(3, 0, {{0, 0, 1, {}}, {0, 1, 2, {}}, {0, 2, 0, {}}})) ==
        "rank 0 leaves the barrier before rank 1 has entered it");
}

TEST_CASE("Segments verify: schedules out of form") {
  Schedules all = valid(allreduce, "recursive_doubling", 4);
  all[1].slots = 0;
  CHECK(complaint({allreduce}, all) == "rank 1 phase 0 receives in scratch slot 0 of 0");
  all = told(3, 1, {{0, 1, 0, {0, 1}, after}, {0, 2, 0, {0, 1}, after}});
  all[0].receives[1].slot = 0;
  CHECK(complaint({reduce}, all) == "rank 0 phase 0 uses scratch slot 0 for two messages");
  all = valid(bcast, "linear", 3);
  all[2].segments = 2;
  CHECK(complaint({bcast}, all) == "rank 2 has 2 segments, rank 0 has 1");
  all = valid(allgather, "ring", 4);
  all[3].sends[0].action = before;
  CHECK(complaint({allgather}, all) ==
        "rank 3 phase 0 sends to rank 0 with an action, which only receives have");
  CHECK(complaint({allgather}, valid(barrier, "binomial", 4)) ==
        "rank 0 phase 0 has 0 segments, which no allgather on 4 ranks has");
  CHECK(complaint({bcast}, Schedules(2)) == "rank 0 phase 0 is the schedule of rank 0 of 0");
}

TEST_CASE("Segments verify: phases and transfers out of form") {
  const auto broken = [](auto&& change) {
    Schedules all = valid(allgather, "ring", 4);
    change(all[1]);
    return complaint({allgather}, all);
  };
  using S = SegmentSchedule;
  CHECK(broken([](S& s) { s.steps.pop_back(); }) == "rank 1 phase 0 has not a step for each phase");
  CHECK(broken([](S& s) { s.phases[1].first_send = 0; }) ==
        "rank 1 phase 1 names messages out of order or out of range");
  CHECK(broken([](S& s) { s.phases.pop_back(), s.steps.pop_back(); }) ==
        "rank 1 phase 2 has messages that belong to no phase");
  CHECK(broken([](S& s) { s.phases.push_back({3, 0, 3, 0, 0}), s.steps.push_back(3); }) ==
        "rank 1 phase 3 is empty");
  CHECK(broken([](S& s) { s.phases[2].window = -1; }) == "rank 1 phase 2 has a negative window");
  CHECK(broken([](S& s) { s.sends[0].peer = 1; }) == "rank 1 phase 0 has a message with rank 1");
  CHECK(broken([](S& s) { s.sends[2].first = 6; }) ==
        "rank 1 phase 2 has a message whose ranges are out of range");
  CHECK(broken([](S& s) { s.sends[2].count = 0; }) == "rank 1 phase 2 has a message of 0 ranges with rank 2");
  CHECK(broken([](S& s) { s.ranges.front().count = 4; }) == "rank 1 phase 0 moves segments 1 to 4 of 4");
  CHECK(broken([](S& s) { s.receives[1].slot = 0; }) ==
        "rank 1 phase 1 receives from rank 0 in scratch, to replace");
}

namespace {

/// Applies one random change that makes schedules wrong; its name.
std::string mutate(Schedules& all, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return random() % n; };
  SegmentSchedule& s = all[below(all.size())];
  auto& transfers = s.receives.empty() || (!s.sends.empty() && below(2) == 0) ? s.sends : s.receives;
  Transfer& t = transfers[below(transfers.size())];
  switch (below(4)) {
    case 0:
      t.peer = (t.peer + 1 + static_cast<int>(below(static_cast<std::size_t>(s.size - 1)))) % s.size;
      return "peer";
    case 1: ++s.steps.back(); return "step";
    case 2:
      if (t.count > 0) {
        ++s.ranges[static_cast<std::size_t>(t.first)].first;
        return "segment";
      }
      t.count = 1;
      return "count";
    default:
      if (t.action == Action::replace) {
        t.action = before;
        return "combined";
      }
      t.action = Action::replace;
      return "not combined";
  }
}

}  // namespace

TEST_CASE("Segments verify: finds every random change") {
  for (const SegmentStrategy& strategy : segment_strategies()) {
    const int size = strategy.name == "recursive_doubling" || strategy.name == "neighbor_exchange" ? 16 : 19;
    const Placement placement = Placement::spread(size, strategy.applies(Placement::flat(size)) ? size : 4);
    REQUIRE(strategy.applies(placement));
    const Parameters parameters{.root = 5, .depth = 3};
    const Schedules all = schedules(strategy, placement, parameters);
    for (unsigned seed = 1; seed <= 100; ++seed) {
      std::mt19937 random(seed);
      Schedules changed = all;
      const std::string change = mutate(changed, random);
      INFO(name(strategy.operation) << " " << strategy.name << ", seed " << seed << ": " << change);
      CHECK_THROWS_AS(verify({strategy.operation, 5, strategy.keeps_order(placement)}, changed),
                      schedule_error);
    }
  }
}
