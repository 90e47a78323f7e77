// What could run and what it costs: the runtime and `wherry explain` ask the same functions.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "model/cost.hpp"
#include "tuning/candidates.hpp"

using namespace wherry;
using namespace wherry::tuning;
using schedule::Operation;
using topology::Placement;

namespace {

constexpr model::Machine machine;
constexpr long long sizes[] = {1, 1024, 1 << 20};

std::vector<std::optional<Operation>> operations() {
  return {std::nullopt,         Operation::allgather,      Operation::bcast,
          Operation::gather,    Operation::scatter,        Operation::reduce,
          Operation::allreduce, Operation::reduce_scatter, Operation::barrier};
}

std::vector<Placement> placements() {
  return {Placement::flat(1), Placement::flat(2), Placement::flat(8), Placement::blocked(13, 5),
          Placement::spread(20, 1)};
}

const Estimate& named(const std::vector<Estimate>& all, std::string_view name) {
  const auto found =
      std::ranges::find(all, name, [](const Estimate& p) { return p.candidate->algorithm.name(); });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("a survey has what applies, and nothing else") {
  for (const auto operation : operations())
    for (const Placement& placement : placements()) {
      std::set<std::string_view> estimated;
      for (const AlgorithmCandidate& o : survey(placement, operation)) estimated.insert(o.algorithm.name());
      for (const schedule::Algorithm& algorithm : algorithms_of(operation)) {
        CAPTURE(algorithm.name());
        CHECK(estimated.contains(algorithm.name()) == algorithm.applies(placement));
      }
    }
}

TEST_CASE("a survey has every depth of a pipeline, and nothing else twice") {
  for (const auto operation : operations()) {
    std::set<std::pair<std::string_view, int>> estimated;
    for (const AlgorithmCandidate& o : survey(Placement::flat(8), operation)) {
      CHECK(estimated.insert({o.algorithm.name(), o.algorithm.depth()}).second);
      CHECK((o.algorithm.depth() == 1 || o.algorithm.is_pipelined()));
    }
    for (const schedule::Algorithm& algorithm : algorithms_of(operation))
      if (algorithm.is_pipelined() && algorithm.applies(Placement::flat(8)))
        for (int depth = 1; depth <= deepest; depth *= 2)
          CHECK(estimated.contains({algorithm.name(), depth}));
  }
}

TEST_CASE("every algorithm is estimated once, pipelines at their best depth") {
  for (const auto operation : operations())
    for (const Placement& placement : placements())
      for (const long long bytes : sizes) {
        const std::vector<AlgorithmCandidate> candidates = survey(placement, operation);
        std::set<std::string_view> names;
        for (const Estimate& p : estimates(candidates, {placement.size(), bytes}, machine)) {
          CHECK(names.insert(p.candidate->algorithm.name()).second);
          for (const AlgorithmCandidate& o : candidates)
            if (o.algorithm.name() == p.candidate->algorithm.name())
              CHECK(p.cost.seconds <= cost(o, {placement.size(), bytes}, machine).seconds);
        }
      }
}

TEST_CASE("sizes are of a block where every rank has one, else of the whole buffer") {
  const Placement placement = Placement::flat(8);
  const auto bytes_sent = [&](std::optional<Operation> operation, std::string_view name) {
    const std::vector<AlgorithmCandidate> candidates = survey(placement, operation);
    return named(estimates(candidates, {8, 1000}, machine), name).cost.bytes;
  };
  CHECK(bytes_sent({}, "direct") == 7 * 1000);
  CHECK(bytes_sent(Operation::allgather, "ring") == 7 * 1000);
  CHECK(bytes_sent(Operation::scatter, "linear") == 7 * 1000);
  CHECK(bytes_sent(Operation::reduce_scatter, "direct") == 7 * 1000);
  CHECK(bytes_sent(Operation::bcast, "linear") == 7 * 1000);
  CHECK(bytes_sent(Operation::allreduce, "recursive_doubling") == 3 * 1000);
  CHECK(bytes_sent(Operation::allreduce, "ring") == 14 * 125);
  CHECK(bytes_sent(Operation::barrier, "dissemination") == 0);
}

TEST_CASE("a pipeline is as deep as its data is large") {
  const Placement placement = Placement::flat(16);
  const schedule::SegmentStrategy& chain = *schedule::find_strategy(Operation::bcast, "chain");
  const auto depth = [&](long long bytes) {
    return deepened(chain, placement, {16, bytes}, machine).depth();
  };
  CHECK(depth(8) == 1);
  CHECK(depth(1 << 20) > depth(64 << 10));
  CHECK(depth(1LL << 40) == deepest);
  // No other power of two is better.
  const auto seconds = [&](int d) {
    return model::cost(chain, placement, {.depth = d}, 1 << 20, machine).seconds;
  };
  for (int d = 1; d <= deepest; d *= 2) CHECK(seconds(depth(1 << 20)) <= seconds(d));
  const schedule::Algorithm binomial(*schedule::find_strategy(Operation::bcast, "binomial"));
  CHECK(deepened(binomial, placement, {16, 1 << 20}, machine) == binomial);
}

TEST_CASE("a candidate costs what its strategy costs") {
  const Placement placement = Placement::blocked(13, 5);
  for (const schedule::SegmentStrategy& s : schedule::segment_strategies(Operation::bcast)) {
    const AlgorithmCandidate candidate = counted({s, 4}, placement, 7);
    const schedule::Parameters parameters{.root = 7, .depth = 4};
    CHECK(cost(candidate, {13, 5000}, machine).seconds ==
          model::cost(s, placement, parameters, 5000, machine).seconds);
  }
}

TEST_CASE("staging is slots, and room to pack the caller's buffers") {
  const std::vector<AlgorithmCandidate> alltoall = survey(Placement::flat(4), {});
  const auto direct =
      std::ranges::find(alltoall, "direct", [](const AlgorithmCandidate& o) { return o.algorithm.name(); });
  CHECK(staging_bytes(*direct, {4, 100}) == 2 * 4 * 100);
  const std::vector<AlgorithmCandidate> reduce = survey(Placement::flat(4), Operation::reduce);
  const auto linear =
      std::ranges::find(reduce, "linear", [](const AlgorithmCandidate& o) { return o.algorithm.name(); });
  CHECK(staging_bytes(*linear, {4, 100}) == 3 * 100 + 100);
}

TEST_CASE("sizes up to a power of two share what is learned, and buffers up to a cache line") {
  CHECK(shared_bytes(0, true) == 1);
  CHECK(shared_bytes(1, true) == 1);
  CHECK(shared_bytes(3, true) == 4);
  CHECK(shared_bytes(0, false) == 1);
  for (const long long bytes : {1, 8, 63, 64}) CHECK(shared_bytes(bytes, false) == 64);
  for (const bool in_blocks : {false, true}) {
    CHECK(shared_bytes(65, in_blocks) == 128);
    CHECK(shared_bytes(1024, in_blocks) == 1024);
    CHECK(shared_bytes(1025, in_blocks) == 2048);
  }
}
