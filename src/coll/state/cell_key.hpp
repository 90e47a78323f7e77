// Which calls share what is learned.
#pragma once

#include <compare>
#include <cstdint>

#include "base/collective.hpp"

namespace wherry::run {

/// The calls that share a learner.
struct CellKey {
  Collective collective;
  Limit limit;
  std::uint32_t bucket;  // size class, agreed: of a block, or of the whole buffer where there are no blocks
  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

/// No block, or buffer, of the size class is larger.
constexpr long long largest(const CellKey& key) { return key.bucket == 0 ? 1 : 1LL << (key.bucket - 1); }

}  // namespace wherry::run
