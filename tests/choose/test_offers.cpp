// What could run and what it costs: the runtime and `wherry explain` ask the same functions.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "choose/offers.hpp"
#include "plan/segments/cost.hpp"

using namespace wherry;
using namespace wherry::choose;
using plan::Operation;
using plan::Shape;

namespace {

constexpr plan::Machine machine;
constexpr long long sizes[] = {1, 1024, 1 << 20};

std::vector<std::optional<Operation>> operations() {
  return {std::nullopt,         Operation::allgather,      Operation::bcast,
          Operation::gather,    Operation::scatter,        Operation::reduce,
          Operation::allreduce, Operation::reduce_scatter, Operation::barrier};
}

std::vector<Shape> shapes() {
  return {Shape::flat(1), Shape::flat(2), Shape::flat(8), Shape::blocked(13, 5), Shape::spread(20, 1)};
}

const Priced& named(const std::vector<Priced>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, [](const Priced& p) { return p.offer->way.name(); });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("a survey offers what applies, and nothing else") {
  for (const auto operation : operations())
    for (const Shape& shape : shapes()) {
      std::set<std::string_view> offered;
      for (const Offer& o : survey(shape, operation)) offered.insert(o.way.name());
      for (const Way& way : ways_of(operation)) {
        CAPTURE(way.name());
        CHECK(offered.contains(way.name()) == way.applies(shape));
      }
    }
}

TEST_CASE("a survey offers every depth of a pipeline, and nothing else twice") {
  for (const auto operation : operations()) {
    std::set<std::pair<std::string_view, int>> offered;
    for (const Offer& o : survey(Shape::flat(8), operation)) {
      CHECK(offered.insert({o.way.name(), o.way.depth}).second);
      CHECK((o.way.depth == 1 || o.way.is_pipelined()));
    }
    for (const Way& way : ways_of(operation))
      if (way.is_pipelined() && way.applies(Shape::flat(8)))
        for (int depth = 1; depth <= deepest; depth *= 2) CHECK(offered.contains({way.name(), depth}));
  }
}

TEST_CASE("every way is priced once, pipelines at their best depth") {
  for (const auto operation : operations())
    for (const Shape& shape : shapes())
      for (const long long bytes : sizes) {
        const std::vector<Offer> offers = survey(shape, operation);
        std::set<std::string_view> names;
        for (const Priced& p : priced(offers, {shape.size(), bytes}, machine)) {
          CHECK(names.insert(p.offer->way.name()).second);
          for (const Offer& o : offers)
            if (o.way.name() == p.offer->way.name())
              CHECK(p.cost.seconds <= cost(o, {shape.size(), bytes}, machine).seconds);
        }
      }
}

TEST_CASE("sizes are of a block where every rank has one, else of the whole buffer") {
  const Shape shape = Shape::flat(8);
  const auto bytes_sent = [&](std::optional<Operation> operation, std::string_view name) {
    const std::vector<Offer> offers = survey(shape, operation);
    return named(priced(offers, {8, 1000}, machine), name).cost.bytes;
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
  const Shape shape = Shape::flat(16);
  const Way chain{.segments = plan::find_strategy(Operation::bcast, "chain")};
  const auto depth = [&](long long bytes) { return deepened(chain, shape, {16, bytes}, machine).depth; };
  CHECK(depth(8) == 1);
  CHECK(depth(1 << 20) > depth(64 << 10));
  CHECK(depth(1LL << 40) == deepest);
  // No other power of two is better.
  const auto seconds = [&](int d) {
    return plan::cost(*chain.segments, shape, {.depth = d}, 1 << 20, machine).seconds;
  };
  for (int d = 1; d <= deepest; d *= 2) CHECK(seconds(depth(1 << 20)) <= seconds(d));
  const Way binomial{.segments = plan::find_strategy(Operation::bcast, "binomial")};
  CHECK(deepened(binomial, shape, {16, 1 << 20}, machine) == binomial);
}

TEST_CASE("an offer costs what its strategy costs") {
  const Shape shape = Shape::blocked(13, 5);
  for (const plan::SegmentStrategy& s : plan::segment_strategies(Operation::bcast)) {
    const Offer offer = counted({.segments = &s, .depth = 4}, shape, 7);
    const plan::Parameters parameters{.root = 7, .depth = 4};
    CHECK(cost(offer, {13, 5000}, machine).seconds ==
          plan::cost(s, shape, parameters, 5000, machine).seconds);
  }
}

TEST_CASE("staging is slots, and room to pack the caller's buffers") {
  const std::vector<Offer> alltoall = survey(Shape::flat(4), {});
  const auto direct = std::ranges::find(alltoall, "direct", [](const Offer& o) { return o.way.name(); });
  CHECK(staging_bytes(*direct, {4, 100}) == 2 * 4 * 100);
  const std::vector<Offer> reduce = survey(Shape::flat(4), Operation::reduce);
  const auto linear = std::ranges::find(reduce, "linear", [](const Offer& o) { return o.way.name(); });
  CHECK(staging_bytes(*linear, {4, 100}) == 3 * 100 + 100);
}

TEST_CASE("sizes up to a power of two share what is learned") {
  CHECK(shared_bytes(0) == 1);
  CHECK(shared_bytes(1) == 1);
  CHECK(shared_bytes(3) == 4);
  CHECK(shared_bytes(1024) == 1024);
  CHECK(shared_bytes(1025) == 2048);
}
