#include "barnes_hut/domains.hpp"

#include <algorithm>

namespace barnes_hut {
namespace {

void add_octants(const Domain& domain, std::vector<Domain>& all) {
  const int level = domain.level + 1;
  for (Key i = 0; i < 8; ++i) all.push_back({.first = domain.first + i * keys_at(level), .level = level});
}

/// By the body in the middle of each.
void assign(std::vector<Domain>& domains, int ranks) {
  std::uint64_t all = 0, before = 0;
  for (const Domain& domain : domains) all += domain.bodies;
  for (Domain& domain : domains) {
    const std::uint64_t middle = before + domain.bodies / 2;
    domain.owner = static_cast<int>(middle * static_cast<std::uint64_t>(ranks) / all);
    before += domain.bodies;
  }
}

}  // namespace

std::vector<Domain> divide(std::uint64_t most, int ranks, const CountBodies& count) {
  std::vector<Domain> domains, open(1);
  while (!open.empty()) {
    const std::vector<std::uint64_t> counts = count(open);
    std::vector<Domain> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i].bodies = counts[i];
      if (counts[i] > most && open[i].level < most_levels) add_octants(open[i], next);
      else if (counts[i] > 0) domains.push_back(open[i]);
    }
    open = std::move(next);
  }
  std::ranges::sort(domains, {}, &Domain::first);
  assign(domains, ranks);
  return domains;
}

}  // namespace barnes_hut
