#include "cache/history.hpp"

#include <algorithm>
#include <bit>

namespace wherry::cache {
namespace {

/// Tick and heat as one number of their order: heat is never negative.
std::uint64_t age_of(const History::Row& row) {
  return std::uint64_t{row.tick} << 32 | std::bit_cast<std::uint32_t>(row.heat);
}

}  // namespace

History::History(std::size_t bytes)
    : memory_(std::bit_floor(std::max(bytes, sizeof(Set)))),
      mask_(std::bit_floor(std::max(bytes, sizeof(Set))) / sizeof(Set) - 1) {
  memory_.commit(memory_.most());
}

History::Row* History::row_of(std::uint64_t hash) const {
  const std::uint32_t mark = mark_of(hash);
  Row* found = nullptr;
  // All rows: which of them it is nobody can predict, and a wrong guess costs more.
  for (Row& row : set_of(hash)->rows) found = row.mark == mark ? &row : found;
  return found;
}

void History::note(std::uint64_t hash, float heat, std::uint32_t tick, std::uint32_t generation,
                   Cause cause) {
  // Its own; else the oldest; of the same age the coldest.
  Row* row = row_of(hash);
  if (row == nullptr) row = std::ranges::min_element(set_of(hash)->rows, {}, age_of);
  *row = {mark_of(hash), heat, tick, generation << 2 | static_cast<std::uint32_t>(cause)};
}

Cause History::cause_of(const Row* row, std::uint32_t generation) {
  if (row == nullptr) return Cause::compulsory;
  const auto cause = static_cast<Cause>(row->state & 3);
  return row->state >> 2 == (generation & 0x3fffffff) ? cause : Cause::invalidated;
}

}  // namespace wherry::cache
