// Who may stage how much: the runtime and `wherry explain` ask the same functions.
#include "tuning/staging_limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

using namespace wherry;
using namespace wherry::tuning;

namespace {

const topology::Placement placement = topology::Placement::spread(24, 5);
constexpr long long mib = 1 << 20;

AlgorithmCandidate candidate_named(std::string_view name, std::optional<schedule::Operation> operation = {}) {
  const std::vector<AlgorithmCandidate> all = survey(placement, operation);
  const auto found =
      std::ranges::find(all, name, [](const AlgorithmCandidate& o) { return o.algorithm.name(); });
  REQUIRE(found != all.end());
  return *found;
}

Calls calls(Collective collective, long long bytes, Limit limit = Limit::none) {
  return {collective, limit, {placement.size(), bytes}};
}

}  // namespace

TEST_CASE("what travels straight needs no room, and no memory that the processor reaches") {
  const AlgorithmCandidate direct = candidate_named("direct"), mesh = candidate_named("mesh");
  for (const Collective c : {Collective::alltoall, Collective::alltoallv, Collective::alltoallw}) {
    CHECK(fits(direct, calls(c, 64 * mib), placement, {0, false}));
    CHECK_FALSE(fits(mesh, calls(c, 1024), placement, {0, true}));
    CHECK_FALSE(fits(mesh, calls(c, 1024), placement, {64 * mib, false}));
    CHECK(fits(mesh, calls(c, 1024), placement, {64 * mib, true}));
  }
}

TEST_CASE("irregular all-to-alls stage blocks up to a limit, however large they are") {
  const AlgorithmCandidate mesh = candidate_named("mesh");
  CHECK(combined_limit(1) == 256);
  CHECK(combined_limit(1024) == 4096);
  CHECK(combined_limit(1 << 20) == 64 << 10);
  const int slots = mesh.traffic.most_slots;
  for (const long long bytes : {1LL, 1024LL, mib}) {
    const long long limit = combined_limit(bytes);
    CHECK(staging_bytes(mesh, calls(Collective::alltoallv, bytes)) ==
          slots * limit + 2 * (slots + 24) * (limit + 4));
  }
  const Calls large = calls(Collective::alltoallv, mib), uniform = calls(Collective::alltoall, mib);
  CHECK(staging_bytes(mesh, large) < staging_bytes(mesh, uniform));
  CHECK(staging_bytes(candidate_named("direct"), large) == 0);
}

TEST_CASE("segments of whole units need no more than is said") {
  for (const schedule::Operation operation : {schedule::Operation::allreduce, schedule::Operation::reduce})
    for (const AlgorithmCandidate& candidate : survey(placement, operation))
      for (const long long unit : {1, 8, 1000})
        for (const long long units : {1, 7, 24, 1000}) {
          const long long largest = (units + candidate.segments - 1) / candidate.segments * unit;
          CAPTURE(candidate.algorithm.name());
          CHECK(candidate.traffic.most_slots * largest + units * unit <=
                staging_bytes(candidate, Load{placement.size(), units * unit, unit}));
        }
}

TEST_CASE("in place, an all-to-all copies what it sends, and an irregular one has one algorithm") {
  const AlgorithmCandidate direct = candidate_named("direct");
  const Calls in_place = calls(Collective::alltoall, 1024, Limit::in_place);
  CHECK(staging_bytes(direct, in_place) == 2 * 24 * 1024 + 24 * 1024);
  CHECK_FALSE(fits(direct, in_place, placement, {64 << 10}));
  std::set<std::string_view> irregular;
  for (const AlgorithmCandidate& o : survey(placement, {}))
    if (fits(o, calls(Collective::alltoallw, 1024, Limit::in_place), placement, {0}))
      irregular.insert(o.algorithm.name());
  CHECK(irregular == std::set<std::string_view>{in_place_strategy});
}

TEST_CASE("what must be combined in order takes only algorithms that keep it") {
  for (const AlgorithmCandidate& o : survey(placement, schedule::Operation::allreduce)) {
    CAPTURE(o.algorithm.name());
    CHECK(fits(o, calls(Collective::allreduce, 1024, Limit::in_order), placement, {64 * mib}) ==
          o.algorithm.keeps_order(placement));
  }
}

TEST_CASE("beyond a GiB calls that would be staged are native") {
  const StagingLimits endless{1LL << 60};
  CHECK(fits(candidate_named("ring", schedule::Operation::allreduce), calls(Collective::allreduce, 1 << 30),
             placement, endless));
  CHECK_FALSE(fits(candidate_named("ring", schedule::Operation::allreduce),
                   calls(Collective::allreduce, 2LL << 30), placement, endless));
}
