#include <doctest/doctest.h>

#include <algorithm>

#include "model/cost.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "topology/trial_placements.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::model;

namespace {

Cost cost_of(std::string_view name, const Placement& placement, long long block_bytes) {
  return cost(*find_strategy(name), placement, block_bytes, Machine{});
}

}  // namespace

TEST_CASE("cost: counts of direct are those of the collective itself") {
  const Cost c = cost_of("direct", Placement::spread(8, 4), 100);
  CHECK(c.messages == 7);
  CHECK(c.messages_between == 2 * 6);
  CHECK(c.bytes == 700);
  CHECK(c.bytes_between == 1200);
  CHECK(c.copied_bytes == 0);
  CHECK(c.staging_bytes == 0);
  CHECK(c.phases == 1);
}

TEST_CASE("cost: node-aware sends one message per pair of nodes and no byte between nodes twice") {
  const Cost c = cost_of("node_aware", Placement::spread(32, 4), 100);
  CHECK(c.messages_between == 3);
  CHECK(c.bytes_between == 8 * 24 * 100);
  CHECK(c.phases == 3);
  CHECK(c.copied_bytes > 0);
}

TEST_CASE("cost: every byte that leaves a node has to, at least") {
  for (const Strategy& s : strategies()) {
    for (const Placement& placement : trial_placements(18)) {
      if (!s.applies(placement)) continue;
      CAPTURE(s.name);
      long long needed = 0;
      for (int node = 0; node < placement.nodes(); ++node) {
        const auto ranks = static_cast<long long>(placement.members(node).size());
        needed = std::max(needed, ranks * (placement.size() - ranks));
      }
      const Cost c = cost(s, placement, 1, Machine{});
      CHECK(c.bytes_between >= needed);
      CHECK(c.bytes >= placement.size() - 1);
      CHECK((s.hops == Hops::single) == (c.staging_bytes == 0));
    }
  }
}

TEST_CASE("cost: time grows with the block, and counts with it exactly") {
  for (const Strategy& s : strategies()) {
    const Placement placement = Placement::spread(24, 5);
    if (!s.applies(placement)) continue;
    CAPTURE(s.name);
    const Traffic counted = traffic(s, placement);
    const Cost one = estimate(counted, 1, Machine{}), thousand = estimate(counted, 1000, Machine{});
    CHECK(thousand.bytes == 1000 * one.bytes);
    CHECK(thousand.copied_bytes == 1000 * one.copied_bytes);
    CHECK(thousand.messages == one.messages);
    CHECK(thousand.seconds > one.seconds);
    CHECK(estimate(counted, 0, Machine{}).seconds > 0);
  }
}

TEST_CASE("cost: combining wins for small blocks on a network, going straight for large ones") {
  const Placement placement = Placement::spread(32, 4);
  CHECK(cost_of("node_aware", placement, 64).seconds < cost_of("direct", placement, 64).seconds);
  CHECK(cost_of("bruck2", Placement::flat(64), 8).seconds <
        cost_of("pairwise", Placement::flat(64), 8).seconds);
  CHECK(cost_of("pairwise", Placement::flat(64), 1 << 20).seconds <
        cost_of("bruck2", Placement::flat(64), 1 << 20).seconds);
}

TEST_CASE("cost: sampled ranks give the exact counts where ranks are alike") {
  const Placement placement = Placement::blocked(96, 4);  // beyond what is counted exactly
  REQUIRE(placement.size() > counted_exactly);
  const Cost direct = cost_of("direct", placement, 1);
  CHECK(direct.messages_between == 4 * 92);
  CHECK(direct.bytes == 95);
  CHECK(cost_of("leader", placement, 1).messages_between == 23);
  CHECK(cost_of("node_aware", placement, 1).messages_between == 23);
}

TEST_CASE("cost: one rank costs nothing") {
  const Cost c = cost_of("direct", Placement::flat(1), 1000);
  CHECK(c.seconds == 0);
  CHECK(c.messages == 0);
  CHECK(c.phases == 0);
}
