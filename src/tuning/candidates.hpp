// What could run on a placement, and what the cost model expects of it: the runtime chooses by it, `wherry explain`
// tells it. Pure: the same on all ranks.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/cost.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/registry/algorithm.hpp"
#include "topology/placement.hpp"
#include "tuning/learner.hpp"

namespace wherry::tuning {

/// An algorithm that applies to a placement, and what it does there: counted once, with an estimate for every size.
struct AlgorithmCandidate {
  schedule::Algorithm algorithm;
  model::Traffic traffic;
  int segments;  // that the buffer is cut into; 0: blocks are moved
};

/// What an algorithm that applies does on a placement. root: of operations that have one.
AlgorithmCandidate counted(const schedule::Algorithm& algorithm, const topology::Placement& placement,
                           int root = 0);

/// The most segments that a pipeline cuts its data into: what is counted and estimated are the powers of two up to it.
inline constexpr int deepest = 256;

/// Everything that applies to a placement, in the registry's order. Every depth of a pipeline is an algorithm of its
/// own.
///
/// Counted for root 0, which stands for all: the root makes little difference, and what is learned is shared.
std::vector<AlgorithmCandidate> survey(const topology::Placement& placement,
                                       std::optional<schedule::Operation> operation);

/// How much a call moves. bytes: of a block where every rank has one, else of the whole buffer (schedule::in_blocks).
struct Load {
  int ranks;
  long long bytes;
  long long unit_bytes = 1;  // what may not be cut
};

/// The sizes up to the next power of two share what is learned, and are estimated as the largest of them. Buffers of 1
/// to 64 bytes that have no blocks are one class: what a message of a cache line takes is all latency, and a program
/// that reduces a flag, a sum and a vector of six in each step trains once.
long long shared_bytes(long long bytes, bool in_blocks);

/// Staging that an all-to-all of equal blocks may need on any rank: slots, and packed copies of both buffers.
constexpr long long uniform_staging(int most_slots, int size, long long block_bytes) {
  return (most_slots + 2LL * size) * block_bytes;
}

/// Staging that the algorithm may need on any rank. Blocks are equal; irregular ones need other memory
/// (coll/blocks/block_collectives.hpp).
long long staging_bytes(const AlgorithmCandidate& candidate, const Load& load);

model::Cost cost(const AlgorithmCandidate& candidate, const Load& load, const model::Machine& machine);

/// A candidate with an estimate of its cost at one size.
struct Estimate {
  const AlgorithmCandidate* candidate;
  model::Cost cost;
};

/// Whether an algorithm may be used at all for the calls in question. Must answer alike on all ranks.
using Allowed = std::function<bool(const AlgorithmCandidate&)>;

/// The candidates that are allowed, in their order; of each pipeline the depth that takes least time. They must outlive
/// it.
std::vector<Estimate> estimates(std::span<const AlgorithmCandidate> candidates, const Load& load,
                                const model::Machine& machine, const Allowed& allowed = {});

/// The algorithm as deep as takes least time; itself, if it is no pipeline.
schedule::Algorithm deepened(const schedule::Algorithm& algorithm, const topology::Placement& placement,
                             const Load& load, const model::Machine& machine);

/// The machine of the second opinion in expected_seconds(): all latencies are four times as long.
model::Machine with_long_waits(model::Machine machine);

/// What a learner had better expect of each: the cost model, where latencies may be longer than it says. The constants
/// are rarely those of the machine, and most often it is waiting that takes longer: ranks that share a core must be
/// woken first, switches are slow. So the geometric mean counts of how far a strategy is behind the best here and where
/// all waits are longer, in units of the best here. What is first in both stays first; what needs few steps gets its
/// chance. A pipeline keeps the depth that is best here. The same bits on all ranks.
std::vector<double> expected_seconds(std::span<const Estimate> estimates, const Load& load,
                                     const model::Machine& machine);

/// What a shortlist is made of: names with expected_seconds().
std::vector<Candidate> candidates(std::span<const Estimate> estimates, const Load& load,
                                  const model::Machine& machine);

// ---- Of neighborhoods ----

/// Everything that applies to the graph, in the registry's order.
std::vector<AlgorithmCandidate> survey(const schedule::Graph& graph, const topology::Placement& placement);

/// Whether a strategy may win anything: few messages that stay on their nodes are best native.
bool is_promising(const schedule::Graph& graph, const topology::Placement& placement);

}  // namespace wherry::tuning
