#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "choose/shortlist.hpp"

using namespace wherry;
using namespace wherry::choose;

namespace {

constexpr long long block_sizes[] = {1, 64, 1024, 16384, 1 << 20};

std::vector<plan::Shape> shapes() {
  std::vector<plan::Shape> all;
  for (const int size : {1, 2, 3, 5, 8, 12, 24, 33}) {
    all.push_back(plan::Shape::flat(size));
    all.push_back(plan::Shape::blocked(size, size));
    all.push_back(plan::Shape::blocked(size, 5));
  }
  return all;
}

const plan::Strategy& strategy(const Candidate& c) {
  const plan::Strategy* found = plan::find_strategy(c.name);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("a shortlist is native, then strategies that apply, cheapest first, each once") {
  for (const plan::Shape& shape : shapes())
    for (const long long bytes : block_sizes) {
      const std::vector<Candidate> list = shortlist(survey(shape), bytes, plan::Machine{}, {}, 5);
      REQUIRE_FALSE(list.empty());
      CHECK(list[0].name == "native");
      CHECK(list.size() <= 6);
      CHECK(std::ranges::is_sorted(list, {}, &Candidate::predicted_s));
      std::set<std::string> names;
      for (const Candidate& c : list) CHECK(names.insert(c.name).second);
      for (std::size_t i = 1; i < list.size(); ++i) CHECK(strategy(list[i]).applies(shape));
    }
}

TEST_CASE("the cheapest strategy by the model is on the list") {
  const plan::Shape shape = plan::Shape::blocked(12, 4);
  for (const long long bytes : block_sizes) {
    double best = std::numeric_limits<double>::infinity();
    for (const plan::Strategy& s : plan::strategies())
      if (s.applies(shape)) best = std::min(best, plan::cost(s, shape, bytes, plan::Machine{}).seconds);
    const std::vector<Candidate> list = shortlist(survey(shape), bytes, plan::Machine{}, {}, 5);
    REQUIRE(list.size() > 1);
    CHECK(list[1].predicted_s == best);
  }
}

TEST_CASE("a shortlist is a function of its arguments") {
  for (const plan::Shape& shape : shapes())
    CHECK(shortlist(survey(shape), 512, plan::Machine{}, {}) ==
          shortlist(survey(plan::Shape(shape)), 512, plan::Machine{}, {}));
}

TEST_CASE("what is not allowed is not listed") {
  const std::vector<Offer> offers = survey(plan::Shape::blocked(24, 6));
  CHECK(shortlist(offers, 64, plan::Machine{}, [](const Offer&) { return false; }).size() == 1);
  const Allowed single = [](const Offer& o) { return o.strategy->hops == plan::Hops::single; };
  for (const long long bytes : block_sizes)
    for (const Candidate& c : shortlist(offers, bytes, plan::Machine{}, single))
      CHECK((c.name == "native" || strategy(c).hops == plan::Hops::single));
}

TEST_CASE("a survey offers what applies, and nothing else") {
  for (const plan::Shape& shape : shapes()) {
    std::set<std::string_view> offered;
    for (const Offer& o : survey(shape)) CHECK(offered.insert(o.strategy->name).second);
    for (const plan::Strategy& s : plan::strategies()) CHECK(offered.contains(s.name) == s.applies(shape));
  }
}

TEST_CASE("families are strategies up to a parameter") {
  CHECK(family_of("bruck4") == "bruck");
  CHECK(family_of("pairwise_xor") == "pairwise");
  CHECK(family_of("mesh") == "mesh");
}

TEST_CASE("no family fills the list while others are competitive") {
  for (const plan::Shape& shape : shapes())
    for (const long long bytes : block_sizes) {
      const std::vector<Candidate> list = shortlist(survey(shape), bytes, plan::Machine{}, {}, 4);
      const std::vector<Candidate> all = shortlist(survey(shape), bytes, plan::Machine{}, {}, 100);
      std::set<std::string_view> listed, present;
      for (const Candidate& c : list) listed.insert(family_of(c.name));
      for (const Candidate& c : all) present.insert(family_of(c.name));
      // Native counts as a family of its own; two of each family fit before a third of any.
      CHECK(listed.size() >= std::min<std::size_t>(present.size(), 3));
    }
}
