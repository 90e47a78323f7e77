// A way to perform a collective with a schedule of Wherry's.
#pragma once

#include <string_view>

#include "plan/segments/strategy.hpp"
#include "plan/strategy.hpp"

namespace wherry::run {

/// One of the two is set: personalized all-to-alls exchange blocks, all other collectives work on segments of a buffer.
struct Way {
  const plan::Strategy* exchange = nullptr;
  const plan::SegmentStrategy* segments = nullptr;
  int depth = 1;  // of a pipelined segment strategy

  std::string_view name() const { return exchange != nullptr ? exchange->name : segments->name; }
  friend bool operator==(const Way&, const Way&) = default;
};

}  // namespace wherry::run
