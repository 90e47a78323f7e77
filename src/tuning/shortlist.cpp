#include "tuning/shortlist.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "schedule/blocks/block_strategy.hpp"

namespace wherry::tuning {
namespace {

constexpr std::size_t most_per_family = 2;
// What a learner would never try needs no place on the list.
constexpr double hopeless = LearnerOptions{}.hopeless;

/// Cheapest first, without the hopeless.
std::vector<Candidate> ranking(std::vector<Candidate> all) {
  std::ranges::stable_sort(all, {}, &Candidate::predicted_s);
  const double limit = all.empty() ? 0 : hopeless * all.front().predicted_s;
  std::erase_if(all, [&](const Candidate& c) { return c.predicted_s > limit; });
  return all;
}

/// Moves the third and later ones of each family behind all others, keeping the order otherwise.
void spread_families(std::vector<Candidate>& ranked) {
  std::vector<Candidate> first, later;
  for (Candidate& c : ranked) {
    const auto same = [&](const Candidate& f) { return family_of(f.name) == family_of(c.name); };
    const auto seen = static_cast<std::size_t>(std::ranges::count_if(first, same));
    (seen < most_per_family ? first : later).push_back(std::move(c));
  }
  std::ranges::move(later, std::back_inserter(first));
  ranked = std::move(first);
}

/// Of those that send each block straight to its destination.
std::optional<Candidate> cheapest_straight(const std::vector<Candidate>& estimates) {
  std::optional<Candidate> cheapest;
  for (const Candidate& c : estimates) {
    const schedule::Strategy* const s = schedule::find_strategy(c.name);
    if (s == nullptr || s->hops != schedule::Hops::single) continue;
    if (!cheapest || c.predicted_s < cheapest->predicted_s) cheapest = c;
  }
  return cheapest;
}

}  // namespace

std::string_view family_of(std::string_view strategy) {
  if (strategy.ends_with("_pairwise")) return "pairwise";
  return strategy.substr(0, strategy.find_first_of("_0123456789"));
}

std::vector<Candidate> shortlist(std::vector<Candidate> estimates, std::size_t most) {
  std::vector<Candidate> ranked = ranking(std::move(estimates));
  spread_families(ranked);
  if (ranked.size() > most) ranked.resize(most);
  std::ranges::stable_sort(ranked, {}, &Candidate::predicted_s);
  ranked.insert(ranked.begin(), {"native", 0});  // without a prediction
  return ranked;
}

std::vector<Candidate> shortlist_for(Collective collective, std::vector<Candidate> estimates) {
  if (collective != Collective::alltoallv && collective != Collective::alltoallw)
    return shortlist(std::move(estimates));
  std::optional<Candidate> straight = cheapest_straight(estimates);
  std::vector<Candidate> list = shortlist(std::move(estimates));
  const auto is_straight = [&](const Candidate& c) { return c.name == straight->name; };
  if (!straight || std::ranges::any_of(list, is_straight)) return list;
  if (list.size() > 1) straight->predicted_s = list.back().predicted_s;
  list.push_back(*std::move(straight));
  return list;
}

}  // namespace wherry::tuning
