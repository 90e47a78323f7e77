#include "window/destinations.hpp"

namespace wherry::window {
namespace {

/// Gets under way that overlap, one the next.
struct Chain {
  using Place = std::vector<Written>::iterator;
  Place first, last;
  std::uintptr_t end;
  bool agreed = true;               // all are of the same bytes
  std::uint64_t harmed_before = 0;  // over gets before this sequence number something else was copied
};

std::vector<Chain> chains_of(std::vector<Written>& under_way) {
  std::ranges::sort(under_way, {}, &Written::begin);
  std::vector<Chain> chains;
  for (auto each = under_way.begin(); each != under_way.end(); ++each) {
    if (chains.empty() || each->begin() >= chains.back().end) {
      chains.push_back({each, each + 1, each->end()});
      continue;
    }
    Chain& chain = chains.back();
    chain.last = each + 1;
    chain.end = std::max(chain.end, each->end());
    chain.agreed &= each->agrees(*chain.first);
  }
  return chains;
}

void note_hit(std::vector<Chain>& chains, const Written& hit) {
  auto chain = std::ranges::upper_bound(chains, hit.begin(), {}, &Chain::end);
  for (; chain != chains.end() && chain->first->begin() < hit.end(); ++chain)
    if (!hit.agrees(*chain->first)) chain->harmed_before = std::max(chain->harmed_before, hit.sequence + 1);
}

}  // namespace

bool note_aliased(std::vector<Written>& under_way, const std::vector<Written>& hits) {
  std::vector<Chain> chains = chains_of(under_way);
  for (const Written& hit : hits) note_hit(chains, hit);
  bool told = false;
  for (const Chain& chain : chains)
    for (auto each = chain.first; each != chain.last; ++each)
      if (each->aliased != nullptr && (!chain.agreed || each->sequence < chain.harmed_before))
        told = *each->aliased = true;
  return told;
}

}  // namespace wherry::window
