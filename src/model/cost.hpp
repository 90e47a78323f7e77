// What a strategy would cost: exact counts, and a time by the alpha-beta-gamma model.
#pragma once

#include <functional>
#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "topology/placement.hpp"

namespace wherry::model {

/// Times of one machine. alpha: per message; beta: per byte on the wire; gamma: per byte copied.
///
/// alpha is what a message costs its rank even when many are under way; latency is waited out once whenever
/// a rank cannot go on before messages have arrived: at the end of a phase, and when a window is full.
/// The defaults are an ordinary Gigabit cluster; only their proportions matter, since they only rank
/// candidates.
struct Machine {
  double alpha_within_s = 0.6e-6;  // messages inside a node
  double alpha_between_s = 8e-6;   // messages between nodes
  double beta_within_s = 1 / 8e9;
  double beta_between_s = 1 / 120e6;  // shared by all ranks of a node
  double gamma_s = 1 / 6e9;
  double latency_within_s = 0.5e-6;
  double latency_between_s = 20e-6;
  double eager_between_bytes = 64 << 10;  // messages of so many bytes wait for their receiver (rendezvous)
  double rendezvous = 1.8;                // and take so much longer on a busy link
  double congestion = 0.1;  // share of a link's speed that is lost each time the flows into a node double
};

/// What the busiest rank (counts) and the slowest path (time) meet. block_bytes is the size of one block.
struct Cost {
  double seconds = 0;
  long long messages = 0;          // most messages that one rank sends
  long long messages_between = 0;  // most messages that leave one node
  long long bytes = 0;             // most bytes that one rank sends
  long long bytes_between = 0;     // most bytes that leave one node
  long long copied_bytes = 0;      // most bytes that one rank copies in staging
  long long staging_bytes = 0;     // most staging that one rank needs
  int phases = 0;
};

/// What one rank does in one phase of its schedule; blocks count once per message that carries them.
///
/// Ranks go through the phases of a step on their own, and wait for each other between steps: a step takes as long as
/// its slowest node. Personalized all-to-alls, in which all are busy all the time, are a single step.
struct PhaseTraffic {
  int step = 0;  // ascending within a rank
  int window = 0;
  long long sends_within = 0, sends_between = 0;
  long long receives_within = 0, receives_between = 0;
  long long out_within = 0, out_between = 0;  // blocks
  long long in_within = 0, in_between = 0;    // blocks
  long long copied = 0;                       // blocks
};

struct RankTraffic {
  double weight = 1;  // ranks of the node that this one stands for
  std::vector<PhaseTraffic> phases;
};

/// Ranks of one node, and how many it holds.
struct NodeTraffic {
  int size = 0;
  std::vector<RankTraffic> ranks;
};

/// Everything about a strategy on a placement that its cost depends on, whatever the block size and machine.
struct Traffic {
  std::vector<NodeTraffic> nodes;
  int most_slots = 0;
};

/// Blocks of a message to send that have to be gathered in staging, and of a received one that have to be handed
/// over from there.
long long copies_to_send(const schedule::Schedule& s, const schedule::Message& m);
long long copies_on_arrival(const schedule::Schedule& s, const schedule::Message& m);

/// Up to this many ranks every rank is counted. Beyond, some ranks of some nodes stand for the others,
/// which keeps estimating all strategies at 1024 ranks well below a second.
inline constexpr int counted_exactly = 64;

enum class Counting { exact, sampled };

/// What the rank of a schedule does.
std::vector<PhaseTraffic> count_phases(const schedule::Schedule& schedule,
                                       const topology::Placement& placement);

/// What a rank does, phase by phase.
using CountRank = std::function<std::vector<PhaseTraffic>(int rank)>;

/// Counts every rank or, sampled, some ranks of some nodes, which stand for the others.
std::vector<NodeTraffic> count_nodes(const topology::Placement& placement, Counting counting,
                                     const CountRank& count);

/// Walks schedules: exact up to `counted_exactly` ranks, sampled beyond. The same on all ranks.
Traffic traffic(const schedule::Strategy& strategy, const topology::Placement& placement);

/// The estimate for what was counted: linear in what traffic holds, so keep it for several sizes.
Cost estimate(const Traffic& traffic, long long block_bytes, const Machine& machine);

/// estimate(traffic(...), ...).
Cost cost(const schedule::Strategy& strategy, const topology::Placement& placement, long long block_bytes,
          const Machine& machine);

// Schedules of other kinds than all-to-alls: their blocks are segments or edges (schedule_cost.cpp).

/// Walks schedules; estimate() takes it with the bytes of a segment. Combining counts as copying, and so does packing
/// several ranges. Ranks that are alike are sampled beyond `counted_exactly`.
Traffic traffic(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
                const schedule::Parameters& parameters);

/// buffer_bytes: all segments together, which is what one rank has (or gets) in the whole of the operation.
Cost cost(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
          const schedule::Parameters& parameters, long long buffer_bytes, const Machine& machine);

/// Walks the schedules of a strategy on a graph, as traffic() of one for all-to-alls. routed: one that applies.
Traffic traffic(const schedule::Routed& routed, const topology::Placement& placement);

}  // namespace wherry::model
