#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "tuning/candidates.hpp"
#include "tuning/shortlist.hpp"

using namespace wherry;
using namespace wherry::tuning;

namespace {

constexpr long long block_sizes[] = {1, 64, 1024, 16384, 1 << 20};

std::vector<topology::Placement> placements() {
  std::vector<topology::Placement> all;
  for (const int size : {1, 2, 3, 5, 8, 12, 24, 33}) {
    all.push_back(topology::Placement::flat(size));
    all.push_back(topology::Placement::blocked(size, size));
    all.push_back(topology::Placement::blocked(size, 5));
  }
  return all;
}

/// What the runtime tries: all that applies and is allowed, with an estimate.
std::vector<Candidate> listed(const topology::Placement& placement,
                              std::optional<schedule::Operation> operation, long long bytes,
                              std::size_t most = LearnerOptions{}.most_tried, const Allowed& allowed = {}) {
  const std::vector<AlgorithmCandidate> candidates = survey(placement, operation);
  const Load load{placement.size(), bytes};
  const model::Machine machine;
  return shortlist(tuning::candidates(estimates(candidates, load, machine, allowed), load, machine), most);
}

std::vector<std::optional<schedule::Operation>> operations() {
  std::vector<std::optional<schedule::Operation>> all{std::nullopt};
  for (const schedule::SegmentStrategy& s : schedule::segment_strategies())
    if (s.operation != all.back()) all.push_back(s.operation);
  return all;
}

const schedule::Strategy& strategy(const Candidate& c) {
  const schedule::Strategy* found = schedule::find_strategy(c.name);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("a shortlist is native, then strategies that apply, cheapest first, each once") {
  for (const auto operation : operations())
    for (const topology::Placement& placement : placements())
      for (const long long bytes : block_sizes) {
        const std::vector<Candidate> list = listed(placement, operation, bytes);
        REQUIRE_FALSE(list.empty());
        CHECK(list[0].name == "native");
        CHECK(list.size() <= LearnerOptions{}.most_tried + 1);
        CHECK(std::ranges::is_sorted(list, {}, &Candidate::predicted_s));
        const std::vector<schedule::Algorithm> algorithms = algorithms_of(operation);
        std::set<std::string> names;
        for (const Candidate& c : list) CHECK(names.insert(c.name).second);
        for (std::size_t i = 1; i < list.size(); ++i)
          CHECK(std::ranges::find(algorithms, std::string_view(list[i].name), &schedule::Algorithm::name)
                    ->applies(placement));
      }
}

TEST_CASE("an irregular exchange may be sent straight, whatever the model thinks of it") {
  const std::vector<Candidate> estimates = {{"bruck2", 1}, {"mesh", 1.5}, {"direct", 9}, {"pairwise", 8}};
  const std::vector<Candidate> list = shortlist(estimates);
  REQUIRE(std::ranges::find(list, "pairwise", &Candidate::name) == list.end());
  CHECK(shortlist_for(Collective::alltoall, estimates).size() == list.size());
  for (const Collective irregular : {Collective::alltoallv, Collective::alltoallw}) {
    const std::vector<Candidate> longer = shortlist_for(irregular, estimates);
    REQUIRE(longer.size() == list.size() + 1);
    CHECK(longer.back().name == "pairwise");
    CHECK(longer.back().predicted_s == 1.5);
    CHECK(shortlist_for(irregular, {{"mesh", 1.5}, {"direct", 1.6}}).size() == 3);
    CHECK(shortlist_for(irregular, {{"mesh", 1.5}}).size() == 2);
    CHECK(shortlist_for(irregular, {}).size() == 1);
  }
}

TEST_CASE("the cheapest strategy by the model is on the list") {
  const topology::Placement placement = topology::Placement::blocked(12, 4);
  for (const long long bytes : block_sizes) {
    std::string_view cheapest;
    double best = std::numeric_limits<double>::infinity();
    for (const schedule::Strategy& s : schedule::strategies()) {
      if (!s.applies(placement)) continue;
      const double seconds = model::cost(s, placement, bytes, model::Machine{}).seconds;
      if (seconds < best) cheapest = s.name;
      best = std::min(best, seconds);
    }
    const std::vector<Candidate> list = listed(placement, {}, bytes);
    CHECK(std::ranges::find(list, cheapest, &Candidate::name) != list.end());
  }
}

TEST_CASE(
    "what needs the fewest steps is tried early where blocks are small, though the model may think it slow") {
  const topology::Placement placement = topology::Placement::blocked(8, 2);
  for (const schedule::Operation operation :
       {schedule::Operation::reduce, schedule::Operation::bcast, schedule::Operation::gather}) {
    const std::vector<Candidate> list = listed(placement, operation, 8);
    const auto at = std::ranges::find(list, "linear", &Candidate::name) - list.begin();
    CAPTURE(schedule::name(operation));
    CHECK(at <= 2);
  }
}

TEST_CASE(
    "what is expected where latencies may be longer lies between the opinions, and keeps the best of both "
    "first") {
  const model::Machine usual;
  const model::Machine slower = with_long_waits(usual);
  const auto seconds = [](const Estimate& p) { return p.cost.seconds; };
  for (const auto operation : operations())
    for (const topology::Placement& placement : placements())
      for (const long long bytes : block_sizes) {
        const std::vector<AlgorithmCandidate> candidates = survey(placement, operation);
        const Load load{placement.size(), bytes};
        const std::vector<Estimate> here = estimates(candidates, load, usual);
        const std::vector<double> expected = expected_seconds(here, load, usual);
        std::vector<double> there;
        for (const Estimate& p : here) there.push_back(cost(*p.candidate, load, slower).seconds);
        const auto best = std::ranges::min_element(here, {}, seconds);
        const auto best_there = std::ranges::min_element(there);
        if (seconds(*best) == 0) continue;  // one rank
        for (std::size_t i = 0; i < here.size(); ++i) {
          const double first = seconds(here[i]) / seconds(*best), second = there[i] / *best_there;
          const double share = expected[i] / seconds(*best);
          CHECK(share >= std::min(first, second) * (1 - 1e-12));
          CHECK(share <= std::max(first, second) * (1 + 1e-12));
        }
        if (best - here.begin() == best_there - there.begin())
          CHECK(expected[static_cast<std::size_t>(best - here.begin())] == std::ranges::min(expected));
      }
}

TEST_CASE("a shortlist is a function of its arguments") {
  for (const topology::Placement& placement : placements())
    CHECK(listed(placement, {}, 512) == listed(topology::Placement(placement), {}, 512));
}

TEST_CASE("what is not allowed is not listed") {
  const topology::Placement placement = topology::Placement::blocked(24, 6);
  CHECK(listed(placement, {}, 64, 5, [](const AlgorithmCandidate&) { return false; }).size() == 1);
  const Allowed single = [](const AlgorithmCandidate& o) {
    return schedule::find_strategy(o.algorithm.name())->hops == schedule::Hops::single;
  };
  for (const long long bytes : block_sizes)
    for (const Candidate& c : listed(placement, {}, bytes, 5, single))
      CHECK((c.name == "native" || strategy(c).hops == schedule::Hops::single));
}

TEST_CASE("families are strategies up to a parameter") {
  CHECK(family_of("bruck4") == "bruck");
  CHECK(family_of("pairwise_xor") == "pairwise");
  CHECK(family_of("node_pairwise") == "pairwise");
  CHECK(family_of("mesh") == "mesh");
}

TEST_CASE("no family fills the list while others are competitive") {
  for (const topology::Placement& placement : placements())
    for (const long long bytes : block_sizes) {
      const std::vector<Candidate> list = listed(placement, {}, bytes, 4);
      const std::vector<Candidate> all = listed(placement, {}, bytes, 100);
      std::set<std::string_view> listed, present;
      for (const Candidate& c : list) listed.insert(family_of(c.name));
      for (const Candidate& c : all) present.insert(family_of(c.name));
      // Native counts as a family of its own; two of each family fit before a third of any.
      CHECK(listed.size() >= std::min<std::size_t>(present.size(), 3));
    }
}
