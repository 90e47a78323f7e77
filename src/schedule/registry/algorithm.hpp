// An algorithm: how a collective is performed with a schedule of Wherry's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/graph/neighborhood_strategy.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

/// One of the three is set: personalized all-to-alls exchange blocks, neighborhood collectives those of a graph's
/// edges, all other collectives work on segments of a buffer.
struct Algorithm {
  const schedule::Strategy* exchange = nullptr;
  const schedule::SegmentStrategy* segments = nullptr;
  int depth = 1;  // of a pipelined segment strategy
  const schedule::NeighborhoodStrategy* neighbors = nullptr;

  std::string_view name() const {
    return ask([](const auto& strategy) { return strategy.name; });
  }
  std::string_view summary() const {
    return ask([](const auto& strategy) { return strategy.summary; });
  }
  std::string_view needs() const {
    return ask([](const auto& strategy) { return strategy.needs; });
  }
  /// Not for neighborhoods: there it depends on the graph (Routed).
  bool applies(const topology::Placement& placement) const {
    return exchange != nullptr ? exchange->applies(placement) : segments->applies(placement);
  }
  /// Of messages of blocks, not of segments.
  Hops hops() const { return neighbors != nullptr ? neighbors->hops : exchange->hops; }
  /// Whether a reduction by it may have an operation that does not commute. Others keep what they are given.
  bool keeps_order(const topology::Placement& placement) const {
    return segments == nullptr || segments->keeps_order(placement);
  }
  bool is_pipelined() const { return segments != nullptr && schedule::is_pipelined(*segments); }
  friend bool operator==(const Algorithm&, const Algorithm&) = default;

 private:
  template <class Question>
  std::string_view ask(const Question& question) const {
    if (neighbors != nullptr) return question(*neighbors);
    return exchange != nullptr ? question(*exchange) : question(*segments);
  }
};

/// Every strategy, in its registry's order and with depth 1; of no operation: of personalized all-to-alls.
inline std::vector<Algorithm> algorithms_of(std::optional<schedule::Operation> operation) {
  std::vector<Algorithm> algorithms;
  if (operation)
    for (const schedule::SegmentStrategy& s : schedule::segment_strategies(*operation))
      algorithms.push_back({.segments = &s});
  else
    for (const schedule::Strategy& s : schedule::strategies()) algorithms.push_back({.exchange = &s});
  return algorithms;
}

}  // namespace wherry::schedule
