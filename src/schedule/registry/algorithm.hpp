// An algorithm: how a collective is performed with a schedule of Wherry's.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

/// A strategy of one of the two families of schedules: all-to-alls and neighborhood collectives move blocks, all other
/// collectives segments of a buffer. What differs between them is asked by visit().
class Algorithm {
  struct Segments {
    const SegmentStrategy* strategy;
    int depth;
    friend bool operator==(const Segments&, const Segments&) = default;
  };

 public:
  Algorithm(const Strategy& blocks) : family_(&blocks) {}
  /// depth: of a pipelined strategy.
  Algorithm(const SegmentStrategy& segments, int depth = 1) : family_(Segments{&segments, depth}) {}

  /// of_blocks(const Strategy&) or of_segments(const SegmentStrategy&, int depth).
  template <class OfBlocks, class OfSegments>
  auto visit(const OfBlocks& of_blocks, const OfSegments& of_segments) const {
    if (const Segments* const s = std::get_if<Segments>(&family_)) return of_segments(*s->strategy, s->depth);
    return of_blocks(**std::get_if<const Strategy*>(&family_));
  }

  /// What both families answer.
  template <class Question>
  auto ask(const Question& question) const {
    return visit(question, [&](const SegmentStrategy& s, int) { return question(s); });
  }
  std::string_view name() const {
    return ask([](const auto& strategy) { return strategy.name; });
  }
  std::string_view summary() const {
    return ask([](const auto& strategy) { return strategy.summary; });
  }
  /// What applies() asks for.
  std::string_view needs() const {
    return ask([](const auto& strategy) { return strategy.needs; });
  }
  /// Not for neighborhoods: there it depends on the graph (Routed).
  bool applies(const topology::Placement& placement) const {
    return ask([&](const auto& strategy) { return strategy.applies(placement); });
  }
  /// Whether a reduction by it may have an operation that does not commute. Others keep what they are given.
  bool keeps_order(const topology::Placement& placement) const {
    return visit([](const Strategy&) { return true; },
                 [&](const SegmentStrategy& s, int) { return s.keeps_order(placement); });
  }
  bool is_pipelined() const {
    return visit([](const Strategy&) { return false; },
                 [](const SegmentStrategy& s, int) { return schedule::is_pipelined(s); });
  }
  /// Of a pipeline; of all others 1.
  int depth() const {
    return visit([](const Strategy&) { return 1; }, [](const SegmentStrategy&, int depth) { return depth; });
  }
  Algorithm with_depth(int depth) const {
    return visit([](const Strategy& s) { return Algorithm(s); },
                 [=](const SegmentStrategy& s, int) { return Algorithm(s, depth); });
  }
  friend bool operator==(const Algorithm&, const Algorithm&) = default;

 private:
  std::variant<const Strategy*, Segments> family_;
};

/// Every strategy, in its registry's order and with depth 1; of no operation: of personalized all-to-alls.
inline std::vector<Algorithm> algorithms_of(std::optional<Operation> operation) {
  std::vector<Algorithm> algorithms;
  if (operation)
    for (const SegmentStrategy& s : segment_strategies(*operation)) algorithms.emplace_back(s);
  else
    for (const Strategy& s : strategies()) algorithms.emplace_back(s);
  return algorithms;
}

}  // namespace wherry::schedule
