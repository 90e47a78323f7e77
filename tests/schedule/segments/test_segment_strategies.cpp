// Laws that every row of the registry of segment strategies obeys; a new row needs no new test.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "schedule/segments/segment_verify.hpp"
#include "topology/trial_placements.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;

namespace {

std::string describe(const SegmentStrategy& s, const Placement& placement, const Parameters& p) {
  std::string text = std::string(name(s.operation)) + " " + std::string(s.name) + " root " +
                     std::to_string(p.root) + " depth " + std::to_string(p.depth) + " on nodes";
  for (int rank = 0; rank < placement.size(); ++rank) text += " " + std::to_string(placement.node_of(rank));
  return text;
}

/// All roots of small placements; of larger ones the first, the last and the one in the middle.
std::vector<int> roots(Operation operation, int size) {
  if (!has_root(operation)) return {0};
  std::set<int> chosen{0, size / 2, size - 1};
  for (int rank = 0; rank < size && size <= 9; ++rank) chosen.insert(rank);
  return {chosen.begin(), chosen.end()};
}

/// Calls law(strategy, placement, parameters) wherever the strategy applies.
template <class Law>
void for_all(const std::vector<Placement>& placements, Law&& law) {
  for (const SegmentStrategy& s : segment_strategies()) {
    for (const Placement& placement : placements) {
      if (!s.applies(placement)) continue;
      for (const int root : roots(s.operation, placement.size())) {
        for (const int depth : is_pipelined(s) ? std::vector{1, 2, 7} : std::vector{1}) {
          const Parameters parameters{.root = root, .depth = depth};
          INFO(describe(s, placement, parameters));
          law(s, placement, parameters);
        }
      }
    }
  }
}

std::vector<Placement> placements(int first, int last) {
  std::vector<Placement> placements;
  for (int size = first; size <= last; ++size)
    for (const Placement& placement : trial_placements(size)) placements.push_back(placement);
  return placements;
}

Claim claim_of(const SegmentStrategy& s, const Placement& placement, const Parameters& p) {
  return {s.operation, p.root, s.keeps_order(placement)};
}

/// What works on the flat placement does not look at nodes: it is verified there, and elsewhere compared.
void check_valid(const SegmentStrategy& s, const Placement& placement, const Parameters& p) {
  const Placement flat = Placement::flat(placement.size());
  if (placement == flat || !s.applies(flat)) {
    CHECK_NOTHROW(verify(claim_of(s, placement, p), schedules(s, placement, p)));
  } else if (placement.size() <= 20) {
    CHECK(schedules(s, placement, p) == schedules(s, flat, p));
    CHECK(s.keeps_order(placement) == s.keeps_order(flat));
  }
}

}  // namespace

TEST_CASE("Segments: every strategy performs its operation") { for_all(placements(1, 64), check_valid); }

TEST_CASE("Segments: every strategy performs its operation on more ranks") {
  for_all({Placement::flat(97), Placement::flat(128), Placement::blocked(130, 9), Placement::spread(100, 7)},
          check_valid);
}

TEST_CASE("Segments: no strategy that denies it keeps the order of ranks") {
  // Else it would be a candidate too rarely. On three ranks and more, cyclic orders show.
  for (const SegmentStrategy& s : segment_strategies()) {
    for (const Placement& placement : trial_placements(18)) {
      if (!s.applies(placement) || s.keeps_order(placement)) continue;
      CAPTURE(s.name);
      const Parameters parameters{};
      CHECK_THROWS_AS(verify({s.operation, 0, true}, schedules(s, placement, parameters)),
                      wherry::schedule_error);
    }
  }
}

TEST_CASE("Segments: an operation has a strategy on every placement, and a reduction one in order") {
  for (int operation = 0; operation <= static_cast<int>(Operation::barrier); ++operation) {
    const auto rows = segment_strategies(static_cast<Operation>(operation));
    for (const Placement& placement : placements(1, 9))
      CHECK(std::any_of(rows.begin(), rows.end(), [&](const SegmentStrategy& s) {
        return s.applies(placement) && (s.keeps_order(placement) || placement.size() < 3);
      }));
  }
}

TEST_CASE("Segments: names are unique within the operation, found, and every row is complete") {
  std::set<std::pair<Operation, std::string_view>> names;
  std::size_t rows = 0;
  for (const SegmentStrategy& s : segment_strategies()) {
    CHECK(names.insert({s.operation, s.name}).second);
    CHECK(find_strategy(s.operation, s.name) == &s);
    CHECK_FALSE(s.summary.empty());
    CHECK_FALSE(s.needs.empty());
    CHECK_FALSE(name(s.operation).empty());
  }
  for (int operation = 0; operation <= static_cast<int>(Operation::barrier); ++operation)
    rows += segment_strategies(static_cast<Operation>(operation)).size();
  CHECK(rows == segment_strategies().size());
  CHECK(find_strategy(Operation::barrier, "ring") == nullptr);
}

TEST_CASE("Segments: wrong parameters are refused") {
  const SegmentStrategy& chain = *find_strategy(Operation::bcast, "chain");
  const Placement placement = Placement::flat(4);
  CHECK_THROWS_AS(schedule(chain, placement, 4, {}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, placement, 0, {.root = 4}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, placement, 0, {.root = 0, .depth = 0}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, Placement::flat(2), 0, {}), wherry::usage_error);
}

TEST_CASE("Segments: a rank of many derives its schedule from its own transfers") {
  const Placement placement = Placement::blocked(4096, 16);
  for_all({placement}, [](const SegmentStrategy& s, const Placement& large, const Parameters& p) {
    const SegmentSchedule own = schedule(s, large, 1234, p);
    const std::size_t messages = own.sends.size() + own.receives.size();
    CHECK(messages > 0);
    CHECK(messages <= 4 * static_cast<std::size_t>(large.size()));
  });
}

TEST_CASE("Segments: a rank reaches no farther than its subtree") {
  const Placement placement = Placement::flat(8);
  const auto reach_of = [&](std::string_view name, int rank) {
    return reach(schedule(*find_strategy(Operation::gather, name), placement, rank, {}));
  };
  CHECK(reach_of("binomial", 7) == SegmentRange{7, 1});
  CHECK(reach_of("binomial", 6) == SegmentRange{6, 2});
  CHECK(reach_of("binomial", 4) == SegmentRange{4, 4});
  CHECK(reach_of("linear", 4) == SegmentRange{4, 1});
  CHECK(reach(schedule(*find_strategy(Operation::gather, "linear"), Placement::flat(1), 0, {})) ==
        SegmentRange{0, 0});
}

TEST_CASE(
    "Segments: in one step and pairwise, a reduce-scatter sends what a rank had and gets what it keeps") {
  const Placement placement = Placement::flat(5);
  const auto of = [&](std::string_view name) {
    return schedule(*find_strategy(Operation::reduce_scatter, name), placement, 3, {});
  };
  for (const std::string_view name : {"direct", "pairwise"}) {
    CAPTURE(name);
    CHECK(sends_its_own(of(name)));
    CHECK(received(of(name)) == SegmentRange{3, 1});
  }
  CHECK_FALSE(sends_its_own(of("ring")));  // passes on what it has combined
  CHECK(received(schedule(*find_strategy(Operation::scatter, "linear"), placement, 0, {})) ==
        SegmentRange{0, 0});
}
