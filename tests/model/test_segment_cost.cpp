// Costs of segment strategies against the formulas that are known for them.
#include <doctest/doctest.h>

#include <string>

#include "model/cost.hpp"
#include "schedule/blocks/block_verify.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::model;

namespace {

using enum Operation;

Cost cost_of(Operation operation, std::string_view name, const Placement& placement, long long buffer_bytes,
             Parameters parameters = {}) {
  const SegmentStrategy* s = find_strategy(operation, name);
  REQUIRE(s != nullptr);
  return cost(*s, placement, parameters, buffer_bytes, Machine{});
}

/// A machine on which only one thing costs anything: a second each.
constexpr Machine free_of_charge{.alpha_within_s = 0,
                                 .alpha_between_s = 0,
                                 .beta_within_s = 0,
                                 .beta_between_s = 0,
                                 .gamma_s = 0,
                                 .latency_within_s = 0,
                                 .latency_between_s = 0};

/// Waits on the longest path.
double steps_of(Operation operation, std::string_view name, int size, Parameters parameters = {}) {
  Machine machine = free_of_charge;
  machine.latency_within_s = 1;
  return cost(*find_strategy(operation, name), Placement::spread(size, 1), parameters, 0, machine).seconds;
}

/// Bytes that pass one after the other on the longest path.
double bytes_in_turn(Operation operation, std::string_view name, int size, long long bytes,
                     Parameters parameters = {}) {
  Machine machine = free_of_charge;
  machine.beta_within_s = 1;
  return cost(*find_strategy(operation, name), Placement::spread(size, 1), parameters, bytes, machine)
      .seconds;
}

}  // namespace

TEST_CASE("Segments: messages and bytes of allgathers") {
  const Placement placement = Placement::flat(16);
  const long long segment = 100, bytes = 16 * segment;
  struct Row {
    std::string_view name;
    int messages;
    long long packed;  // segments that are copied, since they wrap around
    long long staged;  // most of them in one phase
  };
  for (const Row& row : {Row{"direct", 15, 0, 0},
                         {"ring", 15, 0, 0},
                         {"recursive_doubling", 4, 0, 0},
                         {"bruck", 4, 14, 8},
                         {"neighbor_exchange", 8, 0, 0},
                         {"mesh", 6, 0, 0}}) {
    CAPTURE(row.name);
    const Cost c = cost_of(allgather, row.name, placement, bytes);
    CHECK(c.messages == row.messages);
    CHECK(c.bytes == 15 * segment);
    CHECK(c.staging_bytes == row.staged * segment);
    CHECK(c.copied_bytes == row.packed * segment);
  }
}

TEST_CASE("Segments: messages and bytes of reductions") {
  const Placement placement = Placement::flat(16);
  const long long n = 16000;
  const auto check = [&](Operation operation, std::string_view name, int messages, long long bytes,
                         long long combined) {
    CAPTURE(name);
    const Cost c = cost_of(operation, name, placement, n, {.root = 0, .depth = 4});
    CHECK(c.messages == messages);
    CHECK(c.bytes == bytes);
    CHECK(c.copied_bytes == combined);
  };
  check(allreduce, "recursive_doubling", 4, 4 * n, 4 * n);
  check(allreduce, "direct", 15, 15 * n, 15 * n);
  check(allreduce, "mesh", 6, 6 * n, 6 * n);
  check(allreduce, "rabenseifner", 8, 2 * n * 15 / 16, n * 15 / 16);
  check(allreduce, "ring", 30, 2 * n * 15 / 16, n * 15 / 16);
  check(allreduce, "binary_tree", 4 + 2 * 4, 3 * n, 2 * n);
  check(reduce, "binomial", 1, n, 4 * n);
  check(reduce, "rabenseifner", 4 + 1, n * 15 / 16 + n / 2, n * 15 / 16);
  check(reduce_scatter, "direct", 15, n * 15 / 16, n * 15 / 16);
  check(reduce_scatter, "pairwise", 15, n * 15 / 16, n * 15 / 16);
  check(reduce_scatter, "ring", 15, n * 15 / 16, n * 15 / 16);
  check(reduce_scatter, "recursive_halving", 4, n * 15 / 16, n * 15 / 16);
}

TEST_CASE("Segments: messages and bytes of rooted operations and barriers") {
  const Placement placement = Placement::flat(16);
  CHECK(cost_of(bcast, "linear", placement, 100).messages == 15);
  CHECK(cost_of(bcast, "binomial", placement, 100).messages == 4);
  CHECK(cost_of(bcast, "binomial", placement, 100).bytes == 400);
  CHECK(cost_of(bcast, "scatter_ring", placement, 1600).bytes == 2 * 1500);  // by the root
  CHECK(cost_of(bcast, "chain", placement, 800, {.root = 0, .depth = 8}).messages == 8);
  CHECK(cost_of(bcast, "chain", placement, 800, {.root = 0, .depth = 8}).bytes == 800);
  CHECK(cost_of(scatter, "binomial", placement, 1600).bytes == 1500);
  CHECK(cost_of(gather, "binomial", placement, 1600).bytes == 800);
  CHECK(cost_of(gather, "linear", placement, 1600).bytes == 100);
  for (const std::string_view name : {"dissemination", "binomial"}) {
    CHECK(cost_of(barrier, name, placement, 0).bytes == 0);
    CHECK(cost_of(barrier, name, placement, 0).messages == 4);
  }
}

TEST_CASE("Segments: node-aware strategies cross between nodes as little as can be") {
  const Placement placement = Placement::spread(32, 4);
  CHECK(cost_of(allgather, "node_aware", placement, 3200).messages_between == 2);
  CHECK(cost_of(allgather, "node_aware", placement, 3200).bytes_between == 2400);
  CHECK(cost_of(bcast, "node_aware", placement, 100, {.root = 21}).messages_between == 2);
  CHECK(cost_of(allreduce, "node_aware", placement, 100).bytes_between == 200);
  CHECK(cost_of(allreduce, "node_aware_rabenseifner", placement, 1600).bytes_between == 2400);
  CHECK(cost_of(gather, "node_aware", placement, 3200, {.root = 5}).bytes_between == 1600);
  CHECK(cost_of(reduce_scatter, "node_aware", placement, 3200).bytes_between == 2400);
  CHECK(cost_of(barrier, "node_aware", placement, 0).messages_between == 2);
  CHECK(cost_of(reduce, "node_aware", placement, 100, {.root = 31}).bytes_between == 100);
}

TEST_CASE("Segments: the longest path counts, also of ranks that start late") {
  CHECK(steps_of(allgather, "ring", 16) == 15);
  CHECK(steps_of(allgather, "bruck", 17) == 5);
  CHECK(steps_of(allgather, "neighbor_exchange", 16) == 8);
  CHECK(steps_of(allgather, "mesh", 16) == 2);
  CHECK(steps_of(bcast, "linear", 16) == 1);
  CHECK(steps_of(bcast, "binomial", 16) == 4);
  CHECK(steps_of(bcast, "knomial4", 16, {.root = 5}) == 2);
  CHECK(steps_of(bcast, "knomial4", 17) == 3);
  CHECK(steps_of(bcast, "scatter_ring", 16) == 4 + 15);
  CHECK(steps_of(bcast, "chain", 16, {.root = 3, .depth = 8}) == 14 + 8);
  CHECK(steps_of(bcast, "binary_tree", 15, {.root = 3, .depth = 8}) == 3 + 7);
  CHECK(steps_of(reduce, "binomial", 13, {.root = 5}) == 4);
  CHECK(steps_of(allreduce, "recursive_doubling", 16) == 4);
  CHECK(steps_of(allreduce, "recursive_doubling", 17) == 6);
  CHECK(steps_of(allreduce, "rabenseifner", 16) == 8);
  CHECK(steps_of(allreduce, "ring", 16) == 30);
  CHECK(steps_of(allreduce, "binary_tree", 15, {.depth = 8}) == 6 + 7);
  CHECK(steps_of(barrier, "dissemination", 9) == 4);
  CHECK(bytes_in_turn(bcast, "chain", 16, 800, {.root = 0, .depth = 8}) == 22 * 100);
  CHECK(bytes_in_turn(bcast, "binomial", 16, 800) == 4 * 800);
  CHECK(bytes_in_turn(allgather, "bruck", 16, 1600) == 1500);
  CHECK(bytes_in_turn(allreduce, "rabenseifner", 16, 1600) == 2 * 1500);
}

TEST_CASE("Segments: large data goes in a pipeline, small data down a short tree") {
  const Placement placement = Placement::flat(32);
  const Parameters pipelined{.root = 0, .depth = 64};
  CHECK(cost_of(bcast, "chain", placement, 8 << 20, pipelined).seconds <
        cost_of(bcast, "binomial", placement, 8 << 20).seconds);
  CHECK(cost_of(bcast, "binomial", placement, 8).seconds <
        cost_of(bcast, "chain", placement, 8, pipelined).seconds);
  CHECK(cost_of(allreduce, "recursive_doubling", placement, 8).seconds <
        cost_of(allreduce, "ring", placement, 8).seconds);
  CHECK(cost_of(allreduce, "ring", placement, 8 << 20).seconds <
        cost_of(allreduce, "recursive_doubling", placement, 8 << 20).seconds);
}

TEST_CASE("Segments: sampled ranks give the exact costs where ranks are alike") {
  for (const SegmentStrategy& sampled : segment_strategies()) {
    if (sampled.ranks == Ranks::differ) continue;
    SegmentStrategy counted = sampled;
    counted.ranks = Ranks::differ;
    for (const int size : {100, 128}) {
      const Placement placement = Placement::flat(size);
      if (!sampled.applies(placement) || (sampled.name == "mesh" && size != 100))
        continue;  // a ragged mesh is not alike
      CAPTURE(sampled.name);
      const Cost some = cost(sampled, placement, {}, 128000, Machine{}),
                 all = cost(counted, placement, {}, 128000, Machine{});
      CHECK(some.messages == all.messages);
      CHECK(some.bytes == all.bytes);
      CHECK(some.copied_bytes == all.copied_bytes);
      CHECK(some.seconds == doctest::Approx(all.seconds));
    }
  }
}

TEST_CASE("Segments: one rank costs nothing") {
  for (const SegmentStrategy& s : segment_strategies()) {
    if (!s.applies(Placement::flat(1))) continue;
    const Cost c = cost(s, Placement::flat(1), {}, 1000, Machine{});
    CHECK(c.seconds == 0);
    CHECK(c.messages == 0);
  }
}
