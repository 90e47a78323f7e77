#include "tuning/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "model/cost.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning {
namespace {

/// Bytes of all segments together.
long long buffer_bytes(const schedule::SegmentStrategy& strategy, const Load& load) {
  return schedule::in_blocks(strategy.operation) ? load.bytes * load.ranks : load.bytes;
}

/// Bytes of what a message carries whole numbers of: a block, or the largest segment.
long long unit_bytes(const AlgorithmCandidate& candidate, const Load& load) {
  return candidate.algorithm.visit([&](const schedule::Strategy&) { return load.bytes; },
                                   [&](const schedule::SegmentStrategy& s, int) {
                                     const long long whole = buffer_bytes(s, load);
                                     return (whole + candidate.segments - 1) / candidate.segments +
                                            load.unit_bytes - 1;
                                   });
}

/// Every one of them: the times have a second minimum where segments become small enough to be sent eagerly.
void add_depths(const schedule::Algorithm& algorithm, const topology::Placement& placement,
                std::vector<AlgorithmCandidate>& candidates) {
  const int most = algorithm.is_pipelined() ? deepest : 1;
  for (int depth = 1; depth <= most; depth *= 2)
    candidates.push_back(counted(algorithm.with_depth(depth), placement));
}

}  // namespace

AlgorithmCandidate counted(const schedule::Algorithm& algorithm, const topology::Placement& placement,
                           int root) {
  return algorithm.visit(
      [&](const schedule::Strategy& s) {
        return AlgorithmCandidate{algorithm, model::traffic(s, placement), 0};
      },
      [&](const schedule::SegmentStrategy& s, int depth) {
        const schedule::Parameters parameters{.root = root, .depth = depth};
        return AlgorithmCandidate{algorithm, model::traffic(s, placement, parameters),
                                  std::max(1, s.segments(placement, parameters))};
      });
}

std::vector<AlgorithmCandidate> survey(const topology::Placement& placement,
                                       std::optional<schedule::Operation> operation) {
  std::vector<AlgorithmCandidate> candidates;
  for (const schedule::Algorithm& algorithm : schedule::algorithms_of(operation))
    if (algorithm.applies(placement)) add_depths(algorithm, placement, candidates);
  return candidates;
}

schedule::Algorithm deepened(const schedule::Algorithm& algorithm, const topology::Placement& placement,
                             const Load& load, const model::Machine& machine) {
  std::vector<AlgorithmCandidate> candidates;
  add_depths(algorithm, placement, candidates);
  return estimates(candidates, load, machine).front().candidate->algorithm;
}

long long shared_bytes(long long bytes, bool in_blocks) {
  constexpr long long cache_line = 64;
  const long long least = in_blocks || bytes == 0 ? 0 : cache_line;
  return static_cast<long long>(std::bit_ceil(static_cast<unsigned long long>(std::max(bytes, least))));
}

long long staging_bytes(const AlgorithmCandidate& candidate, const Load& load) {
  const int slots = candidate.traffic.most_slots;
  return candidate.algorithm.visit(
      [&](const schedule::Strategy&) { return uniform_staging(slots, load.ranks, load.bytes); },
      [&](const schedule::SegmentStrategy& s, int) {
        return slots * unit_bytes(candidate, load) + buffer_bytes(s, load);
      });
}

model::Cost cost(const AlgorithmCandidate& candidate, const Load& load, const model::Machine& machine) {
  return model::estimate(candidate.traffic, unit_bytes(candidate, load), machine);
}

std::vector<Estimate> estimates(std::span<const AlgorithmCandidate> candidates, const Load& load,
                                const model::Machine& machine, const Allowed& allowed) {
  std::vector<Estimate> all;
  for (const AlgorithmCandidate& candidate : candidates) {
    if (allowed && !allowed(candidate)) continue;
    const Estimate one{&candidate, cost(candidate, load, machine)};
    if (all.empty() || all.back().candidate->algorithm.name() != candidate.algorithm.name())
      all.push_back(one);
    else if (one.cost.seconds < all.back().cost.seconds) all.back() = one;
  }
  return all;
}

model::Machine with_long_waits(model::Machine machine) {
  constexpr double longer = 4;
  machine.latency_within_s *= longer;
  machine.latency_between_s *= longer;
  return machine;
}

std::vector<double> expected_seconds(std::span<const Estimate> estimates, const Load& load,
                                     const model::Machine& machine) {
  const model::Machine slower = with_long_waits(machine);
  double best = never, best_slower = never;
  std::vector<double> there;
  for (const Estimate& p : estimates) {
    there.push_back(cost(*p.candidate, load, slower).seconds);
    best = std::min(best, p.cost.seconds);
    best_slower = std::min(best_slower, there.back());
  }
  std::vector<double> expected;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const double seconds = estimates[i].cost.seconds;
    expected.push_back(best > 0 ? best * std::sqrt(seconds / best * (there[i] / best_slower)) : seconds);
  }
  return expected;
}

std::vector<Candidate> candidates(std::span<const Estimate> estimates, const Load& load,
                                  const model::Machine& machine) {
  const std::vector<double> expected = expected_seconds(estimates, load, machine);
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < estimates.size(); ++i)
    all.push_back({std::string(estimates[i].candidate->algorithm.name()), expected[i]});
  return all;
}

std::vector<AlgorithmCandidate> survey(const schedule::Graph& graph, const topology::Placement& placement) {
  std::vector<AlgorithmCandidate> candidates;
  for (const schedule::Strategy& strategy : schedule::neighborhood_strategies()) {
    const schedule::Routed routed(strategy, graph, placement);
    if (routed.applies()) candidates.push_back({strategy, model::traffic(routed, placement), 0});
  }
  return candidates;
}

bool is_promising(const schedule::Graph& graph, const topology::Placement& placement) {
  constexpr int few_neighbors = 8;
  const auto crosses = [&](const schedule::Block& edge) {
    return !placement.same_node(edge.origin, edge.destination);
  };
  return graph.most_neighbors() > few_neighbors || std::ranges::any_of(graph.edges(), crosses);
}

}  // namespace wherry::tuning
