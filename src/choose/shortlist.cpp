#include "choose/shortlist.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wherry::choose {
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

}  // namespace

std::string_view family_of(std::string_view strategy) {
  return strategy.substr(0, strategy.find_first_of("_0123456789"));
}

std::vector<Candidate> shortlist(std::vector<Candidate> priced, std::size_t most) {
  std::vector<Candidate> ranked = ranking(std::move(priced));
  spread_families(ranked);
  if (ranked.size() > most) ranked.resize(most);
  std::ranges::stable_sort(ranked, {}, &Candidate::predicted_s);
  ranked.insert(ranked.begin(), {"native", 0});  // without a prediction
  return ranked;
}

}  // namespace wherry::choose
