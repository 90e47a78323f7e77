// The verifier must find what is broken: schedules that are valid but for one change.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/block_verify.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using wherry::schedule_error;

namespace {

using Schedules = std::vector<Schedule>;

Schedules valid(std::string_view name, const Placement& placement) {
  const Strategy* s = find_strategy(name);
  REQUIRE(s != nullptr);
  return schedules(*s, placement);
}

std::string complaint(const Schedules& all) {
  try {
    verify(all);
    return "no complaint";
  } catch (const schedule_error& error) {
    return error.what();
  }
}

/// The phase that holds a send or receive; `first` and `count` say which list.
Phase& phase_of(Schedule& s, int message, int Phase::* first, int Phase::* count) {
  return *std::find_if(s.phases.begin(), s.phases.end(),
                       [&](const Phase& p) { return message >= p.*first && message < p.*first + p.*count; });
}

void drop(Schedule& s, std::vector<Message> Schedule::* list, int message, int Phase::* first,
          int Phase::* count) {
  const Phase& phase = phase_of(s, message, first, count);
  for (auto later = s.phases.begin() + (&phase - s.phases.data()) + 1; later != s.phases.end(); ++later)
    --((*later).*first);
  --(phase_of(s, message, first, count).*count);
  (s.*list).erase((s.*list).begin() + message);
}

class Mutator {
 public:
  Mutator(Schedules all, unsigned seed) : all_(std::move(all)), random_(seed) {}

  /// Applies one random change that makes the schedules wrong; its name.
  std::string mutate() {
    Schedule& s = all_[below(all_.size())];
    switch (below(8)) {
      case 0:
        drop(s, &Schedule::sends, int_below(s.sends.size()), &Phase::first_send, &Phase::sends);
        return "drop send";
      case 1:
        drop(s, &Schedule::receives, int_below(s.receives.size()), &Phase::first_receive, &Phase::receives);
        return "drop receive";
      case 2: return swap_blocks(s);
      case 3: return move_item(s);
      case 4: return change_peer(s, s.sends);
      case 5: return change_peer(s, s.receives);
      case 6: return change_block(s);
      default: s.slots = 0; return needs_slots(s) ? "no slots" : change_block(s);
    }
  }

  const Schedules& all() const { return all_; }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  int int_below(std::size_t n) { return static_cast<int>(below(n)); }

  static bool needs_slots(const Schedule& s) {
    return std::any_of(s.items.begin(), s.items.end(), [](const Item& i) { return i.slot != at_home; });
  }

  std::string swap_blocks(Schedule& s) {
    Item& a = s.items[below(s.items.size())];
    Item* b = &a;
    while (b == &a || b->block == a.block) b = &s.items[below(s.items.size())];
    std::swap(a.block, b->block);
    return "swap blocks";
  }

  /// Another slot, or home instead of a slot.
  std::string move_item(Schedule& s) {
    Item& item = s.items[below(s.items.size())];
    item.slot = item.slot == at_home ? int_below(static_cast<std::size_t>(s.slots) + 1) : at_home;
    return "move item";
  }

  std::string change_peer(Schedule& s, std::vector<Message>& messages) {
    Message& m = messages[below(messages.size())];
    m.peer = (m.peer + 1 + int_below(static_cast<std::size_t>(s.size - 1))) % s.size;
    return "change peer";
  }

  std::string change_block(Schedule& s) {
    Block& b = s.items[below(s.items.size())].block;
    b.destination = (b.destination + 1) % s.size;
    return "change block";
  }

  Schedules all_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("verify: finds every random change") {
  for (const Strategy& strategy : strategies()) {
    const Placement placement = Placement::spread(19, strategy.applies(Placement::flat(19)) ? 19 : 4);
    REQUIRE(strategy.applies(placement));
    const Schedules all = schedules(strategy, placement);
    for (unsigned seed = 1; seed <= 300; ++seed) {
      Mutator mutator(all, seed);
      const std::string change = mutator.mutate();
      INFO(strategy.name << ", seed " << seed << ": " << change);
      CHECK_THROWS_AS(verify(mutator.all()), schedule_error);
    }
  }
}

TEST_CASE("verify: says which rank, phase and block") {
  Schedules all = valid("direct", Placement::flat(6));
  all[3].items[static_cast<std::size_t>(all[3].sends[1].first)].block = {0, 5};
  CHECK(complaint(all) == "rank 3 phase 0 sends block (0->5), which it does not hold at home");
}

TEST_CASE("verify: a message nobody receives") {
  Schedules all = valid("pairwise", Placement::flat(4));
  drop(all[2], &Schedule::receives, 0, &Phase::first_receive, &Phase::receives);
  CHECK(complaint(all) == "rank 1 phase 0 sends to rank 2, which does not receive it");
}

TEST_CASE("verify: a block that is gathered over one that still waits") {
  Schedules all = valid("bruck2", Placement::flat(8));
  Schedule& s = all[0];
  // In the last phase every message that is gathered may not be gathered onto blocks that wait for it.
  Message& last = s.sends.back();
  REQUIRE(last.slot != at_home);
  const auto items = s.items_of(last);
  const auto waiting =
      std::find_if(items.begin() + 1, items.end(), [](const Item& i) { return i.slot != at_home; });
  REQUIRE(waiting != items.end());
  last.slot = std::min(waiting->slot, s.slots - last.count);
  CHECK(complaint(all).find("rank 0 phase") == 0);
}

TEST_CASE("verify: ranks that wait for each other in a ring") {
  // Each rank first receives from the one before and only then sends to the one after.
  Schedules all;
  for (int rank = 0; rank < 3; ++rank) {
    const int next = (rank + 1) % 3, previous = (rank + 2) % 3;
    Schedule s{.size = 3, .rank = rank, .slots = 0, .phases = {}, .sends = {}, .receives = {}, .items = {}};
    s.items = {{{previous, rank}, at_home},
               {{next, rank}, at_home},
               {{rank, next}, at_home},
               {{rank, previous}, at_home}};
    s.receives = {{previous, 0, 1, at_home}, {next, 1, 1, at_home}};
    s.sends = {{next, 2, 1, at_home}, {previous, 3, 1, at_home}};
    s.phases = {{0, 0, 0, 1, 0}, {0, 1, 1, 0, 0}, {1, 1, 1, 1, 0}};
    all.push_back(s);
  }
  CHECK(complaint(all).find("waits for ever to receive from rank") != std::string::npos);
}

TEST_CASE("verify: a window that is too narrow for the order of the messages") {
  // Rank 0 sends to 1 first, rank 1 receives from 0 last: with window 1 and three ranks in such a ring,
  // all wait.
  const auto ring = [](int window) {
    Schedules all;
    for (int rank = 0; rank < 3; ++rank) {
      const int next = (rank + 1) % 3, previous = (rank + 2) % 3;
      Schedule s{.size = 3, .rank = rank, .slots = 0, .phases = {}, .sends = {}, .receives = {}, .items = {}};
      s.items = {{{rank, next}, at_home},
                 {{rank, previous}, at_home},
                 {{next, rank}, at_home},
                 {{previous, rank}, at_home}};
      s.sends = {{next, 0, 1, at_home}, {previous, 1, 1, at_home}};
      s.receives = {{next, 2, 1, at_home}, {previous, 3, 1, at_home}};
      s.phases = {{0, 2, 0, 2, window}};
      all.push_back(s);
    }
    return all;
  };
  CHECK(complaint(ring(0)) == "no complaint");
  CHECK(complaint(ring(2)) == "no complaint");
  CHECK(complaint(ring(1)).find("waits for ever") != std::string::npos);
}

TEST_CASE("verify: one rank has nothing to do") {
  CHECK_NOTHROW(verify(valid("direct", Placement::flat(1))));
  CHECK_THROWS_AS(verify(std::vector<Schedule>(2)), schedule_error);
}
