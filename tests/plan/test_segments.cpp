// Laws that every row of the registry of segment strategies obeys; a new row needs no new test.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "plan/segments/strategy.hpp"
#include "plan/segments/verify.hpp"
#include "plan/verify.hpp"

using namespace wherry::plan;

namespace {

std::string describe(const SegmentStrategy& s, const Shape& shape, const Parameters& p) {
  std::string text = std::string(name(s.operation)) + " " + std::string(s.name) + " root " +
                     std::to_string(p.root) + " depth " + std::to_string(p.depth) + " on nodes";
  for (int rank = 0; rank < shape.size(); ++rank) text += " " + std::to_string(shape.node_of(rank));
  return text;
}

/// All roots of small shapes; of larger ones the first, the last and the one in the middle.
std::vector<int> roots(Operation operation, int size) {
  if (!has_root(operation)) return {0};
  std::set<int> chosen{0, size / 2, size - 1};
  for (int rank = 0; rank < size && size <= 9; ++rank) chosen.insert(rank);
  return {chosen.begin(), chosen.end()};
}

/// Calls law(strategy, shape, parameters) wherever the strategy applies.
template <class Law>
void for_all(const std::vector<Shape>& shapes, Law&& law) {
  for (const SegmentStrategy& s : segment_strategies()) {
    for (const Shape& shape : shapes) {
      if (!s.applies(shape)) continue;
      for (const int root : roots(s.operation, shape.size())) {
        for (const int depth : is_pipelined(s) ? std::vector{1, 2, 7} : std::vector{1}) {
          const Parameters parameters{.root = root, .depth = depth};
          INFO(describe(s, shape, parameters));
          law(s, shape, parameters);
        }
      }
    }
  }
}

std::vector<Shape> placements(int first, int last) {
  std::vector<Shape> shapes;
  for (int size = first; size <= last; ++size)
    for (const Shape& shape : trial_placements(size)) shapes.push_back(shape);
  return shapes;
}

Claim claim_of(const SegmentStrategy& s, const Shape& shape, const Parameters& p) {
  return {s.operation, p.root, s.keeps_order(shape)};
}

/// What works on the flat placement does not look at nodes: it is verified there, and elsewhere compared.
void check_valid(const SegmentStrategy& s, const Shape& shape, const Parameters& p) {
  const Shape flat = Shape::flat(shape.size());
  if (shape == flat || !s.applies(flat)) {
    CHECK_NOTHROW(verify(claim_of(s, shape, p), schedules(s, shape, p)));
  } else if (shape.size() <= 20) {
    CHECK(schedules(s, shape, p) == schedules(s, flat, p));
    CHECK(s.keeps_order(shape) == s.keeps_order(flat));
  }
}

}  // namespace

TEST_CASE("Segments: every strategy performs its operation") { for_all(placements(1, 64), check_valid); }

TEST_CASE("Segments: every strategy performs its operation on more ranks") {
  for_all({Shape::flat(97), Shape::flat(128), Shape::blocked(130, 9), Shape::spread(100, 7)}, check_valid);
}

TEST_CASE("Segments: no strategy that denies it keeps the order of ranks") {
  // Else it would be offered too rarely. On three ranks and more, cyclic orders show.
  for (const SegmentStrategy& s : segment_strategies()) {
    for (const Shape& shape : trial_placements(18)) {
      if (!s.applies(shape) || s.keeps_order(shape)) continue;
      CAPTURE(s.name);
      const Parameters parameters{};
      CHECK_THROWS_AS(verify({s.operation, 0, true}, schedules(s, shape, parameters)),
                      wherry::schedule_error);
    }
  }
}

TEST_CASE("Segments: an operation has a strategy on every shape, and a reduction one in order") {
  for (int operation = 0; operation <= static_cast<int>(Operation::barrier); ++operation) {
    const auto rows = segment_strategies(static_cast<Operation>(operation));
    for (const Shape& shape : placements(1, 9))
      CHECK(std::any_of(rows.begin(), rows.end(), [&](const SegmentStrategy& s) {
        return s.applies(shape) && (s.keeps_order(shape) || shape.size() < 3);
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
  const Shape shape = Shape::flat(4);
  CHECK_THROWS_AS(schedule(chain, shape, 4, {}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, shape, 0, {.root = 4}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, shape, 0, {.root = 0, .depth = 0}), wherry::usage_error);
  CHECK_THROWS_AS(schedule(chain, Shape::flat(2), 0, {}), wherry::usage_error);
}

TEST_CASE("Segments: a rank of many derives its schedule from its own transfers") {
  const Shape shape = Shape::blocked(4096, 16);
  for_all({shape}, [](const SegmentStrategy& s, const Shape& large, const Parameters& p) {
    const SegmentSchedule own = schedule(s, large, 1234, p);
    const std::size_t messages = own.sends.size() + own.receives.size();
    CHECK(messages > 0);
    CHECK(messages <= 4 * static_cast<std::size_t>(large.size()));
  });
}

TEST_CASE("Segments: a rank reaches no farther than its subtree") {
  const Shape shape = Shape::flat(8);
  const auto reach_of = [&](std::string_view name, int rank) {
    return reach(schedule(*find_strategy(Operation::gather, name), shape, rank, {}));
  };
  CHECK(reach_of("binomial", 7) == Range{7, 1});
  CHECK(reach_of("binomial", 6) == Range{6, 2});
  CHECK(reach_of("binomial", 4) == Range{4, 4});
  CHECK(reach_of("linear", 4) == Range{4, 1});
  CHECK(reach(schedule(*find_strategy(Operation::gather, "linear"), Shape::flat(1), 0, {})) == Range{0, 0});
}

TEST_CASE(
    "Segments: in one step and pairwise, a reduce-scatter sends what a rank had and gets what it keeps") {
  const Shape shape = Shape::flat(5);
  const auto of = [&](std::string_view name) {
    return schedule(*find_strategy(Operation::reduce_scatter, name), shape, 3, {});
  };
  for (const std::string_view name : {"direct", "pairwise"}) {
    CAPTURE(name);
    CHECK(sends_its_own(of(name)));
    CHECK(received(of(name)) == Range{3, 1});
  }
  CHECK_FALSE(sends_its_own(of("ring")));  // passes on what it has combined
  CHECK(received(schedule(*find_strategy(Operation::scatter, "linear"), shape, 0, {})) == Range{0, 0});
}
