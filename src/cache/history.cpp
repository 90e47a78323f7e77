#include "cache/history.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wherry::cache {
namespace {

/// Tick and heat as one number of their order: heat is never negative.
std::uint64_t age_of(const History::Row& row) {
  return std::uint64_t{row.tick} << 32 | std::bit_cast<std::uint32_t>(row.heat);
}

}  // namespace

History::History(std::size_t bytes, std::size_t most)
    : memory_(std::bit_floor(std::max(most, sizeof(Set)))),
      mask_(std::bit_floor(std::clamp(bytes, sizeof(Set), memory_.most())) / sizeof(Set) - 1) {
  memory_.commit(sets() * sizeof(Set));
}

/// The rows of a set belong to it or to the new one as far behind it, and which nobody knows: both get them. A row that
/// nobody looks for in its place is not found by a wrong range, and is forgotten in time.
void History::grow(std::size_t bytes) {
  for (std::size_t now = sets() * sizeof(Set); 2 * now <= std::min(bytes, memory_.most()); now *= 2) {
    memory_.commit(2 * now);
    std::memcpy(memory_.data() + now, memory_.data(), now);
    mask_ = 2 * mask_ + 1;
  }
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
