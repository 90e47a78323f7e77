// A way to perform a collective with a schedule of Wherry's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan/segments/strategy.hpp"
#include "plan/strategy.hpp"

namespace wherry::choose {

/// One of the two is set: personalized all-to-alls exchange blocks, all other collectives work on segments of a buffer.
struct Way {
  const plan::Strategy* exchange = nullptr;
  const plan::SegmentStrategy* segments = nullptr;
  int depth = 1;  // of a pipelined segment strategy

  std::string_view name() const { return exchange != nullptr ? exchange->name : segments->name; }
  std::string_view summary() const { return exchange != nullptr ? exchange->summary : segments->summary; }
  std::string_view needs() const { return exchange != nullptr ? exchange->needs : segments->needs; }
  bool applies(const plan::Shape& shape) const {
    return exchange != nullptr ? exchange->applies(shape) : segments->applies(shape);
  }
  bool is_pipelined() const { return segments != nullptr && plan::is_pipelined(*segments); }
  friend bool operator==(const Way&, const Way&) = default;
};

/// Every strategy, in its registry's order and with depth 1; of no operation: of personalized all-to-alls.
std::vector<Way> ways_of(std::optional<plan::Operation> operation);

}  // namespace wherry::choose
