// What each strategy promises: exact numbers of messages, phases, copies and slots.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "schedule/blocks/strategies/straight.hpp"
#include "topology/trial_placements.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;

namespace {

const Strategy& named(std::string_view name) {
  const Strategy* s = find_strategy(name);
  REQUIRE(s != nullptr);
  return *s;
}

std::size_t most_messages(std::string_view name, const Placement& placement) {
  std::size_t most = 0;
  for (const Schedule& s : schedules(named(name), placement)) most = std::max(most, s.sends.size());
  return most;
}

}  // namespace

TEST_CASE("Direct: one phase, in order of distance, with the window asked for") {
  const Schedule s = named("direct4").schedule(Placement::flat(9), 7);
  REQUIRE(s.phases.size() == 1);
  CHECK(s.phases[0].window == 4);
  CHECK(s.sends[0].peer == 8);
  CHECK(s.sends[1].peer == 0);
  CHECK(s.receives[0].peer == 6);
  CHECK(named("direct").schedule(Placement::flat(9), 7).phases[0].window == 0);
}

TEST_CASE("Pairwise: P - 1 rounds of one send and one receive") {
  const Schedule s = named("pairwise").schedule(Placement::flat(6), 2);
  REQUIRE(s.phases.size() == 5);
  for (int k = 0; k < 5; ++k) {
    const Phase& phase = s.phases[static_cast<std::size_t>(k)];
    CHECK(s.sends_of(phase).front().peer == (2 + k + 1) % 6);
    CHECK(s.receives_of(phase).front().peer == (2 + 6 - k - 1) % 6);
  }
}

TEST_CASE("Pairwise XOR: both directions of a pair in one round; partners that do not exist are skipped") {
  for (const Schedule& s : schedules(named("pairwise_xor"), Placement::flat(6))) {
    CHECK(s.phases.size() == 5);
    for (const Phase& phase : s.phases)
      CHECK(s.sends_of(phase).front().peer == s.receives_of(phase).front().peer);
  }
}

TEST_CASE("Mesh: two hops and O(sqrt P) messages, ragged or not") {
  CHECK(most_messages("mesh", Placement::flat(16)) == 6);
  CHECK(most_messages("mesh", Placement::flat(64)) == 14);
  for (int size = 4; size <= 120; ++size) {
    CAPTURE(size);
    const int side = ceil_root(size, 2);
    // A rank that stands in for a hole of the last row has that hole's column beside its own.
    CHECK(most_messages("mesh", Placement::flat(size)) <= static_cast<std::size_t>(4 * (side - 1)));
  }
}

TEST_CASE("Grid: three hops along the axes") {
  CHECK(most_messages("grid3", Placement::flat(27)) == 6);
  CHECK(most_messages("grid3", Placement::flat(64)) == 9);
}

TEST_CASE("Hypercube: one message of half the blocks per binary digit; holes at most double the messages") {
  const Schedule s = named("hypercube").schedule(Placement::flat(16), 5);
  CHECK(s.phases.size() == 4);
  for (const Message& m : s.sends) CHECK(m.count == 8);
  for (int size = 5; size <= 80; ++size) {
    CAPTURE(size);
    std::size_t digits = 0;
    while (1 << digits < size) ++digits;
    CHECK(most_messages("hypercube", Placement::flat(size)) <= 2 * digits);
  }
}

TEST_CASE("Bruck: (r - 1) messages per digit of the distance, the same on every rank") {
  CHECK(most_messages("bruck2", Placement::flat(16)) == 4);
  CHECK(most_messages("bruck4", Placement::flat(16)) == 6);
  CHECK(most_messages("bruck8", Placement::flat(64)) == 14);
  CHECK(most_messages("bruck2", Placement::flat(13)) == 4);
  for (const Schedule& s : schedules(named("bruck2"), Placement::flat(13))) CHECK(s.sends.size() == 4);
}

TEST_CASE("Bruck: staging is reused, not one set of slots per phase") {
  CHECK(named("bruck2").most_slots(Placement::flat(16)) <= 3 * 16);
  CHECK(named("bruck2").most_slots(Placement::flat(1024)) <= 4 * 1024);  // without reuse: 10 x 1024
}

TEST_CASE("Node-aware and leader: one message from each node to each other node") {
  const Placement placement = Placement::placed(std::vector{0, 0, 1, 2, 1, 0, 3, 3, 3, 3, 2, 0});
  for (const std::string_view name : {"node_aware", "leader"}) {
    CAPTURE(name);
    std::map<std::pair<int, int>, int> messages;
    for (const Schedule& s : schedules(named(name), placement))
      for (const Message& m : s.sends)
        if (!placement.same_node(s.rank, m.peer))
          ++messages[{placement.node_of(s.rank), placement.node_of(m.peer)}];
    CHECK(messages.size() == 4 * 3);
    for (const auto& [nodes, count] : messages) CHECK(count == 1);
  }
}

TEST_CASE("Node-aware: remote nodes are shared evenly among a node's ranks") {
  const Placement placement = Placement::blocked(40, 4);  // 10 nodes: 9 remote ones for 4 ranks
  for (const Schedule& s : schedules(named("node_aware"), placement)) {
    const auto between = std::count_if(s.sends.begin(), s.sends.end(), [&](const Message& m) {
      return !placement.same_node(s.rank, m.peer);
    });
    CHECK(between >= 2);
    CHECK(between <= 3);
  }
}

TEST_CASE("Node pairs: in every round a node sends to one node and receives from one, and so do the ranks") {
  for (const Placement& placement : trial_placements(23)) {
    std::map<std::pair<int, int>, int> target, source;      // by round and node
    std::map<std::pair<int, int>, int> to_rank, from_rank;  // by step and rank
    for (int origin = 0; origin < placement.size(); ++origin) {
      for (int destination = 0; destination < placement.size(); ++destination) {
        if (origin == destination) continue;
        const int step = node_pairs(placement, {origin, destination});
        const int round = step / placement.largest_node();
        const int from = placement.node_of(origin), to = placement.node_of(destination);
        CHECK(target.try_emplace({round, from}, to).first->second == to);
        CHECK(source.try_emplace({round, to}, from).first->second == from);
        CHECK(to_rank.try_emplace({step, origin}, destination).second);
        CHECK(from_rank.try_emplace({step, destination}, origin).second);
      }
    }
  }
}

TEST_CASE("Meeting rounds: everybody meets everybody once, one at a time in each direction") {
  for (int n = 1; n <= 33; ++n) {
    std::set<std::pair<int, int>> sends, receives;  // by round and member
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        const int round = meeting_round(from, to, n);
        CHECK((round == 0) == (from == to));
        CHECK(round >= 0);
        CHECK(round < n);
        CHECK(sends.insert({round, from}).second);
        CHECK(receives.insert({round, to}).second);
      }
    }
  }
}
