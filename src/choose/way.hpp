// A way to perform a collective with a schedule of Wherry's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan/neighbours/strategy.hpp"
#include "plan/segments/strategy.hpp"
#include "plan/strategy.hpp"

namespace wherry::choose {

/// One of the three is set: personalized all-to-alls exchange blocks, neighbourhood collectives those of a graph's edges, all
/// other collectives work on segments of a buffer.
struct Way {
  const plan::Strategy* exchange = nullptr;
  const plan::SegmentStrategy* segments = nullptr;
  int depth = 1;  // of a pipelined segment strategy
  const plan::NeighbourStrategy* neighbours = nullptr;

  std::string_view name() const {
    return ask([](const auto& strategy) { return strategy.name; });
  }
  std::string_view summary() const {
    return ask([](const auto& strategy) { return strategy.summary; });
  }
  std::string_view needs() const {
    return ask([](const auto& strategy) { return strategy.needs; });
  }
  /// Not for neighbourhoods: there it depends on the graph (plan/neighbours/routed.hpp).
  bool applies(const plan::Shape& shape) const {
    return exchange != nullptr ? exchange->applies(shape) : segments->applies(shape);
  }
  bool is_pipelined() const { return segments != nullptr && plan::is_pipelined(*segments); }
  friend bool operator==(const Way&, const Way&) = default;

 private:
  template <class Question>
  std::string_view ask(const Question& question) const {
    if (neighbours != nullptr) return question(*neighbours);
    return exchange != nullptr ? question(*exchange) : question(*segments);
  }
};

/// Every strategy, in its registry's order and with depth 1; of no operation: of personalized all-to-alls.
std::vector<Way> ways_of(std::optional<plan::Operation> operation);

}  // namespace wherry::choose
