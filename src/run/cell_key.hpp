// Which calls share what is learned.
#pragma once

#include <compare>
#include <cstdint>

#include "base/collective.hpp"
#include "plan/segments/collectives.hpp"

namespace wherry::run {

/// What limits the ways to perform a call, alike on all ranks.
enum class Limit {
  none,
  in_place,  // an all-to-all whose data to send lies where data is received
  in_order,  // a reduction whose operation does not commute
};

struct CellKey {
  Collective collective;
  Limit limit;
  std::uint32_t bucket;  // size class, agreed: of a block, or of the whole buffer where there are no blocks
  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

using plan::segment_operation;

/// No block, or buffer, of the size class is larger.
long long largest(const CellKey& key);

}  // namespace wherry::run
