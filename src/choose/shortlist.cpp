#include "choose/shortlist.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace wherry::choose {
namespace {

constexpr std::size_t most_per_family = 2;
// What a learner would never try needs no place on the list.
constexpr double hopeless = LearnerOptions{}.hopeless;

void insert_by_cost(std::vector<Candidate>& ranked, Candidate candidate) {
  const auto at = std::ranges::upper_bound(ranked, candidate.predicted_s, {}, &Candidate::predicted_s);
  ranked.insert(at, std::move(candidate));
}

/// Everything that may be used, cheapest first; equal costs in the registry's order.
std::vector<Candidate> ranking(std::span<const Offer> offers, long long block_bytes,
                               const plan::Machine& machine, const Allowed& allowed) {
  std::vector<Candidate> all;
  for (const Offer& offer : offers)
    if (!allowed || allowed(offer))
      insert_by_cost(
          all, {std::string(offer.strategy->name), plan::price(offer.traffic, block_bytes, machine).seconds});
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

std::vector<Offer> survey(const plan::Shape& shape) {
  std::vector<Offer> offers;
  for (const plan::Strategy& s : plan::strategies())
    if (s.applies(shape)) offers.push_back({&s, plan::traffic(s, shape)});
  return offers;
}

std::vector<Candidate> shortlist(std::span<const Offer> offers, long long block_bytes,
                                 const plan::Machine& machine, const Allowed& allowed, std::size_t most) {
  std::vector<Candidate> ranked = ranking(offers, block_bytes, machine, allowed);
  spread_families(ranked);
  if (ranked.size() > most) ranked.resize(most);
  std::vector<Candidate> list = {{"native", 0}};  // no prediction: stays in front of all others
  for (Candidate& c : ranked) insert_by_cost(list, std::move(c));
  return list;
}

}  // namespace wherry::choose
