// Tiny cases, message by message, as they are drawn in the papers.
#include <doctest/doctest.h>

#include <string>

#include "schedule/segments/segment_strategy.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;

namespace {

using enum Operation;

std::string text(const SegmentSchedule& s, const Transfer& t, const char* arrow) {
  std::string words = arrow + std::to_string(t.peer);
  for (const SegmentRange& r : s.ranges_of(t))
    words += ":" + std::to_string(r.first) + (r.count > 1 ? "-" + std::to_string(r.end() - 1) : "");
  constexpr const char* marks[] = {"", "<", ">", "^"};
  return words + marks[static_cast<std::size_t>(t.action)];
}

/// A phase a word: "step(>to:segments <from:segments)", with < or > behind what is combined before or after, ^ behind
/// what is held.
std::string text(const SegmentSchedule& s) {
  std::string words;
  for (std::size_t i = 0; i < s.phases.size(); ++i) {
    std::string phase;
    for (const Transfer& t : s.sends_of(s.phases[i])) phase += (phase.empty() ? "" : " ") + text(s, t, "to");
    for (const Transfer& t : s.receives_of(s.phases[i]))
      phase += (phase.empty() ? "" : " ") + text(s, t, "from");
    words += (i > 0 ? " " : "") + std::to_string(s.steps[i]) + "(" + phase + ")";
  }
  return words;
}

std::string text(Operation operation, std::string_view name, const Placement& placement, int rank,
                 Parameters p = {}) {
  return text(schedule(*find_strategy(operation, name), placement, rank, p));
}

const Placement four = Placement::flat(4);

}  // namespace

TEST_CASE("Segments golden: allgather on four ranks") {
  CHECK(text(allgather, "ring", four, 1) == "0(to2:1 from0:0) 1(to2:0 from0:3) 2(to2:3 from0:2)");
  CHECK(text(allgather, "recursive_doubling", four, 2) == "0(to3:2 from3:3) 1(to0:2-3 from0:0-1)");
  CHECK(text(allgather, "bruck", four, 3) == "0(to2:3 from0:0) 1(to1:3:0 from1:1-2)");
  CHECK(text(allgather, "mesh", four, 0) == "0(to1:0 from1:1) 1(to2:0-1 from2:2-3)");
  CHECK(text(allgather, "direct", four, 0) == "0(to1:0 to2:0 to3:0 from3:3 from2:2 from1:1)");
}

TEST_CASE("Segments golden: neighbor exchange on six ranks") {
  const Placement six = Placement::flat(6);
  CHECK(text(allgather, "neighbor_exchange", six, 0) ==
        "0(to1:0 from1:1) 1(to5:0-1 from5:4-5) 2(to1:4-5 from1:2-3)");
  CHECK(text(allgather, "neighbor_exchange", six, 1) ==
        "0(to0:1 from0:0) 1(to2:0-1 from2:2-3) 2(to0:2-3 from0:4-5)");
}

TEST_CASE("Segments golden: a mesh with a hole is served by the short row") {
  // Rows 0 1 | 2 3 | 4: rank 4 hands its row to both columns, and gets the others from its own column.
  const Placement five = Placement::flat(5);
  CHECK(text(allgather, "mesh", five, 4) == "1(to0:4 to1:4 to2:4 to3:4 from2:2-3 from0:0-1)");
  CHECK(text(allgather, "mesh", five, 1) == "0(to0:1 from0:0) 1(to3:0-1 from4:4 from3:2-3)");
}

TEST_CASE("Segments golden: trees on four ranks") {
  CHECK(text(bcast, "binomial", four, 0) == "0(to2:0) 1(to1:0)");
  CHECK(text(bcast, "binomial", four, 2) == "0(from0:0) 1(to3:0)");
  CHECK(text(bcast, "binomial", four, 3) == "1(from2:0)");
  CHECK(text(gather, "binomial", four, 2) == "0(from3:3) 1(to0:2-3)");
  CHECK(text(scatter, "binomial", four, 2) == "0(from0:2-3) 1(to3:3)");
  CHECK(text(barrier, "binomial", four, 2) == "0(from3) 1(to0) 2(from0) 3(to3)");
}

TEST_CASE("Segments golden: around another root blocks stay whole and in order") {
  CHECK(text(gather, "binomial", four, 3, {.root = 3}) == "0(from2:2) 1(from0:0-1)");
  CHECK(text(reduce, "binomial", four, 3, {.root = 3}) == "0(from2:0<) 1(from0:0<)");
  CHECK(text(reduce, "binomial", four, 1, {.root = 1}) == "0(from0:0<) 1(from2:0>)");
}

TEST_CASE("Segments golden: reductions on four ranks") {
  CHECK(text(allreduce, "recursive_doubling", four, 1) == "0(to0:0 from0:0<) 1(to3:0 from3:0>)");
  CHECK(text(allreduce, "rabenseifner", four, 1) ==
        "0(to0:0-1 from0:2-3<) 1(to3:3 from3:2>) 2(to3:2 from3:3) 3(to0:2-3 from0:0-1)");
  CHECK(text(allreduce, "ring", four, 0) ==
        "0(to1:3 from3:2<) 1(to1:2 from3:1<) 2(to1:1 from3:0<) 3(to1:0 from3:3) 4(to1:3 from3:2) 5(to1:2 "
        "from3:1)");
  CHECK(text(reduce_scatter, "recursive_halving", four, 1) == "0(to3:2-3 from3:0-1>) 1(to0:0 from0:1<)");
  CHECK(text(reduce_scatter, "recursive_halving_ordered", four, 1) ==
        "0(to0:0:2 from0:1:3<) 1(to3:3 from3:1>)");
  CHECK(text(reduce_scatter, "pairwise", four, 1) == "0(to2:2 from0:1<) 1(to3:3 from3:1<) 2(to0:0 from2:1<)");
}

TEST_CASE("Segments golden: all at once, those after from the last on, then those before") {
  CHECK(text(allreduce, "direct", four, 2) == "0(to3:0 to0:0 to1:0 from3:0> from1:0< from0:0<)");
  CHECK(text(reduce, "linear", four, 1, {.root = 1}) == "0(from3:0^ from2:0> from0:0<)");
  CHECK(text(reduce_scatter, "direct", four, 1) == "0(to2:2 to3:3 to0:0 from3:1^ from2:1> from0:1<)");
  CHECK(text(allreduce, "mesh", four, 3) == "0(to2:0 from2:0<) 1(to1:0 from1:0<)");
}

TEST_CASE("Segments golden: folding of five ranks") {
  const Placement five = Placement::flat(5);
  CHECK(text(allreduce, "recursive_doubling", five, 0) == "0(to1:0) 3(from1:0)");
  CHECK(text(allreduce, "recursive_doubling", five, 1) ==
        "0(from0:0<) 1(to2:0 from2:0>) 2(to3:0 from3:0>) 3(to0:0)");
  // The root stands for its pair.
  CHECK(text(reduce, "rabenseifner", five, 0) ==
        "0(from1:0-3>) 1(to2:2-3 from2:0-1>) 2(to3:1 from3:0>) 3(from3:1) 4(from2:2-3)");
}

TEST_CASE("Segments golden: pipelines of three segments") {
  const Parameters three{.root = 0, .depth = 3};
  CHECK(text(bcast, "chain", four, 1, three) == "0(from0:0) 1(to2:0 from0:1) 2(to2:1 from0:2) 3(to2:2)");
  const Placement trio = Placement::flat(3);
  CHECK(text(allreduce, "binary_tree", trio, 1, three) ==
        "0(from0:0< from2:0>) 1(to0:0 to2:0 from0:1< from2:1>) 2(to0:1 to2:1 from0:2< from2:2>) 3(to0:2 "
        "to2:2)");
}

TEST_CASE("Segments golden: node-aware allgather of two nodes, ranks dealt out in turn") {
  const Placement placement = Placement::placed(std::vector{0, 1, 0, 1});
  CHECK(text(allgather, "node_aware", placement, 0) == "0(from2:2) 1(to1:0:2 from1:1:3) 2(to2:0-3)");
  CHECK(text(allgather, "node_aware", placement, 3) == "0(to1:3) 2(from1:0-3)");
}
