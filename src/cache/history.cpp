#include "cache/history.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>

namespace wherry::cache {

History::History(std::size_t bytes)
    : memory_(std::bit_floor(std::max(bytes, sizeof(Set)))),
      mask_(std::bit_floor(std::max(bytes, sizeof(Set))) / sizeof(Set) - 1) {
  memory_.commit(memory_.most());
}

const History::Row* History::find(std::uint64_t hash) const {
  for (const Row& row : set_of(hash)->rows)
    if (row.mark == mark_of(hash)) return &row;
  return nullptr;
}

void History::note(std::uint64_t hash, float heat, std::uint32_t tick, std::uint32_t generation,
                   Cause cause) {
  auto& rows = set_of(hash)->rows;
  Row* row = std::find_if(std::begin(rows), std::end(rows),
                          [&](const Row& each) { return each.mark == mark_of(hash); });
  if (row == std::end(rows))
    // The oldest; of the same age the coldest.
    row = std::min_element(std::begin(rows), std::end(rows), [](const Row& a, const Row& b) {
      return std::tie(a.tick, a.heat) < std::tie(b.tick, b.heat);
    });
  *row = {mark_of(hash), heat, tick, generation << 2 | static_cast<std::uint32_t>(cause)};
}

Cause History::cause_of(const Row* row, std::uint32_t generation) {
  if (row == nullptr) return Cause::compulsory;
  const auto cause = static_cast<Cause>(row->state & 3);
  return row->state >> 2 == (generation & 0x3fffffff) ? cause : Cause::invalidated;
}

}  // namespace wherry::cache
