// Laws that every strategy of the registry obeys; a new strategy needs no new test.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "schedule/blocks/block_builder.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "topology/trial_placements.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;

namespace {

std::string describe(const Strategy& s, const Placement& placement) {
  std::string text = std::string(s.name) + " on nodes";
  for (int rank = 0; rank < placement.size(); ++rank) text += " " + std::to_string(placement.node_of(rank));
  return text;
}

/// Calls law(strategy, placement) for every strategy and every trial placement of up to `most` ranks to which
/// it applies.
template <class Law>
void for_all(int most, Law&& law) {
  for (const Strategy& s : strategies()) {
    for (int size = 1; size <= most; ++size) {
      for (const Placement& placement : trial_placements(size)) {
        if (!s.applies(placement)) continue;
        INFO(describe(s, placement));
        law(s, placement);
      }
    }
  }
}

}  // namespace

TEST_CASE("Strategies: every block is delivered exactly once") {
  for_all(33, [](const Strategy& s, const Placement& placement) {
    CHECK_NOTHROW(verify(schedules(s, placement)));
  });
}

TEST_CASE("Strategies: the cheap schedule is the derived one") {
  for_all(48, [](const Strategy& s, const Placement& placement) {
    // All ranks of small placements; of larger ones the first, the last and those at odd places.
    const int step = placement.size() <= 20 ? 1 : 7;
    for (int rank = 0; rank < placement.size(); rank += step)
      CHECK(s.schedule(placement, rank) == derive(s.route, s.pace, placement, rank));
    CHECK(s.schedule(placement, placement.size() - 1) ==
          derive(s.route, s.pace, placement, placement.size() - 1));
  });
}

TEST_CASE("Strategies: no rank needs more slots than promised") {
  const auto check = [](const Strategy& s, const Placement& placement) {
    const int most = s.most_slots(placement);
    for (int rank = 0; rank < placement.size(); ++rank) CHECK(s.schedule(placement, rank).slots <= most);
  };
  for_all(24, check);
  // Beyond the sizes that are counted exactly the bound is a formula.
  for (const Strategy& s : strategies())
    for (const int size : {65, 97, 128, 150})
      for (const Placement& placement :
           {Placement::flat(size), Placement::blocked(size, 9), Placement::spread(size, 2)})
        if (s.applies(placement)) check(s, placement);
}

TEST_CASE("Strategies: those that work on the flat placement do not look at nodes") {
  for_all(20, [](const Strategy& s, const Placement& placement) {
    const Placement flat = Placement::flat(placement.size());
    if (!s.applies(flat)) return;
    for (int rank = 0; rank < placement.size(); ++rank)
      CHECK(s.schedule(placement, rank) == s.schedule(flat, rank));
  });
}

TEST_CASE("Strategies: those of a single hop send one block per message and need no staging") {
  for_all(20, [](const Strategy& s, const Placement& placement) {
    if (s.hops == Hops::several) return;
    CHECK(s.most_slots(placement) == 0);
    const Schedule schedule = s.schedule(placement, placement.size() - 1);
    CHECK(schedule.items.size() == 2 * static_cast<std::size_t>(placement.size() - 1));
    for (const Message& m : schedule.sends)
      CHECK(schedule.items_of(m).front().block == Block{schedule.rank, m.peer});
  });
}

TEST_CASE("Strategies: routes visit no rank twice and end at the destination") {
  for_all(24, [](const Strategy& s, const Placement& placement) {
    for (int origin = 0; origin < placement.size(); ++origin) {
      for (int destination = 0; destination < placement.size(); ++destination) {
        if (origin == destination) continue;
        const Route route = s.route(placement, {origin, destination});
        std::set<int> visited{origin};
        int last_phase = -1;
        for (const Hop& hop : route) {
          CHECK(visited.insert(hop.to).second);
          CHECK(hop.phase > last_phase);
          last_phase = hop.phase;
        }
        CHECK(route.back().to == destination);
      }
    }
  });
}

TEST_CASE("Strategies: at least one applies to every placement") {
  for (int size = 1; size <= 9; ++size)
    for (const Placement& placement : trial_placements(size))
      CHECK(std::ranges::any_of(strategies(), [&](const Strategy& s) { return s.applies(placement); }));
}

TEST_CASE("Registry: names are unique, found, and every row is complete") {
  std::set<std::string_view> names;
  for (const Strategy& s : strategies()) {
    CHECK(names.insert(s.name).second);
    CHECK(find_strategy(s.name) == &s);
    CHECK_FALSE(s.summary.empty());
    CHECK_FALSE(s.needs.empty());
    const bool complete = s.applies && s.schedule && s.most_slots && s.route;
    CHECK(complete);
  }
  CHECK(find_strategy("brucks") == nullptr);
  CHECK(nearest_strategy("brucks") == "bruck2");
  CHECK(nearest_strategy("piarwise") == "pairwise");
  CHECK(nearest_strategy("entirely different").empty());
}
