#include "model/cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/arithmetic.hpp"

namespace wherry::model {
namespace {

// ---- Counting

PhaseTraffic count_phase(const schedule::Schedule& s, const schedule::Phase& phase,
                         const topology::Placement& placement) {
  PhaseTraffic t;
  t.window = phase.window;
  for (const schedule::Message& m : s.sends_of(phase)) {
    const bool within = placement.same_node(s.rank, m.peer);
    ++(within ? t.sends_within : t.sends_between);
    (within ? t.out_within : t.out_between) += m.count;
    t.copied += copies_to_send(s, m);
  }
  for (const schedule::Message& m : s.receives_of(phase)) {
    const bool within = placement.same_node(s.rank, m.peer);
    ++(within ? t.receives_within : t.receives_between);
    (within ? t.in_within : t.in_between) += m.count;
    t.copied += copies_on_arrival(s, m);
  }
  return t;
}

// ---- Sampling

/// Some of 0..count-1, dense at the low end, where strategies put special roles (leaders, servers of nodes).
std::vector<int> sample(int count) {
  std::vector<int> chosen{0};
  for (long long i = 1; i < count; i *= 2) chosen.push_back(static_cast<int>(i));
  if (chosen.back() != count - 1) chosen.push_back(count - 1);
  return chosen;
}

std::vector<int> everything(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

/// The first nodes, one in the middle, the last (which a ragged placement makes small) and the largest.
std::vector<int> sample_nodes(const topology::Placement& placement) {
  const int nodes = placement.nodes();
  std::vector<int> chosen{0, std::min(1, nodes - 1), nodes / 2, nodes - 1};
  for (int node = 0; node < nodes; ++node) {
    if (static_cast<int>(placement.members(node).size()) < placement.largest_node()) continue;
    chosen.push_back(node);
    break;
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

NodeTraffic count_node(std::span<const int> members, Counting counting, const CountRank& count) {
  const int size = static_cast<int>(members.size());
  const std::vector<int> chosen = counting == Counting::exact ? everything(size) : sample(size);
  NodeTraffic t{.size = size, .ranks = {}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const int until = i + 1 < chosen.size() ? chosen[i + 1] : size;
    t.ranks.push_back({.weight = static_cast<double>(until - chosen[i]),
                       .phases = count(members[static_cast<std::size_t>(chosen[i])])});
  }
  return t;
}

// ---- Estimates

double own_seconds(const PhaseTraffic& t, double block_bytes, const Machine& m) {
  const long long within = std::max(t.sends_within, t.receives_within);
  const long long between = std::max(t.sends_between, t.receives_between);
  const long long waits = t.window == 0 ? 1 : (within + between + t.window - 1) / t.window;
  return static_cast<double>(waits) * (between > 0 ? m.latency_between_s : m.latency_within_s) +
         static_cast<double>(within) * m.alpha_within_s + static_cast<double>(between) * m.alpha_between_s +
         static_cast<double>(std::max(t.out_within, t.in_within)) * block_bytes * m.beta_within_s +
         static_cast<double>(t.copied) * block_bytes * m.gamma_s;
}

/// How much longer the node's link takes with all the flows of this phase on it.
double crowding(const PhaseTraffic& t, int node_size, const Machine& m) {
  const long long flows =
      t.window == 0 ? t.receives_between : std::min<long long>(t.receives_between, t.window);
  return flows == 0 ? 1 : 1 + m.congestion * schedule::levels(flows * node_size);
}

/// How much longer messages take that must ask the receiver before they send their data: where a link is full, the
/// question and its answer wait behind other data, and the link then idles.
double handshaking(long long blocks, long long messages, double block_bytes, const Machine& m) {
  const double message_bytes =
      messages == 0 ? 0 : static_cast<double>(blocks) * block_bytes / static_cast<double>(messages);
  return message_bytes < m.eager_between_bytes ? 1 : m.rendezvous;
}

/// What one node does in one step.
struct StepSeconds {
  double slowest = 0;  // of its ranks
  double out = 0;      // of its link
  double in = 0;
  /// The node's link is busy with all its ranks' bytes, and its slowest rank has work of its own on top.
  double sum() const { return slowest + std::max(out, in); }
};

std::vector<StepSeconds> node_seconds(const NodeTraffic& node, double block_bytes, const Machine& m) {
  std::vector<StepSeconds> steps;
  for (const RankTraffic& rank : node.ranks) {
    double own = 0;
    int step = 0;
    for (const PhaseTraffic& t : rank.phases) {
      if (t.step != step) own = 0;
      step = t.step;
      if (steps.size() <= static_cast<std::size_t>(step)) steps.resize(static_cast<std::size_t>(step) + 1);
      StepSeconds& seconds = steps[static_cast<std::size_t>(step)];
      own += own_seconds(t, block_bytes, m);
      seconds.slowest = std::max(seconds.slowest, own);
      const double per_block = rank.weight * block_bytes * m.beta_between_s * crowding(t, node.size, m);
      seconds.out += static_cast<double>(t.out_between) * per_block *
                     handshaking(t.out_between, t.sends_between, block_bytes, m);
      seconds.in += static_cast<double>(t.in_between) * per_block *
                    handshaking(t.in_between, t.receives_between, block_bytes, m);
    }
  }
  return steps;
}

double all_seconds(const Traffic& traffic, double block_bytes, const Machine& m) {
  std::vector<double> slowest;
  for (const NodeTraffic& node : traffic.nodes) {
    const std::vector<StepSeconds> steps = node_seconds(node, block_bytes, m);
    if (slowest.size() < steps.size()) slowest.resize(steps.size());
    for (std::size_t step = 0; step < steps.size(); ++step)
      slowest[step] = std::max(slowest[step], steps[step].sum());
  }
  return std::accumulate(slowest.begin(), slowest.end(), 0.0);
}

/// Adds the counts of a node to the maxima so far; counts of blocks stay in blocks.
void count_busiest(const NodeTraffic& node, Cost& blocks) {
  double messages_between = 0, out_between = 0;
  for (const RankTraffic& rank : node.ranks) {
    long long messages = 0, out = 0, copied = 0;
    for (const PhaseTraffic& t : rank.phases) {
      messages += t.sends_within + t.sends_between;
      out += t.out_within + t.out_between;
      copied += t.copied;
      messages_between += rank.weight * static_cast<double>(t.sends_between);
      out_between += rank.weight * static_cast<double>(t.out_between);
    }
    blocks.messages = std::max(blocks.messages, messages);
    blocks.bytes = std::max(blocks.bytes, out);
    blocks.copied_bytes = std::max(blocks.copied_bytes, copied);
    blocks.phases = std::max(blocks.phases, static_cast<int>(rank.phases.size()));
  }
  blocks.messages_between = std::max(blocks.messages_between, std::llround(messages_between));
  blocks.bytes_between = std::max(blocks.bytes_between, std::llround(out_between));
}

}  // namespace

std::vector<PhaseTraffic> count_phases(const schedule::Schedule& schedule,
                                       const topology::Placement& placement) {
  std::vector<PhaseTraffic> phases;
  for (const schedule::Phase& phase : schedule.phases)
    phases.push_back(count_phase(schedule, phase, placement));
  return phases;
}

std::vector<NodeTraffic> count_nodes(const topology::Placement& placement, Counting counting,
                                     const CountRank& count) {
  std::vector<NodeTraffic> nodes;
  for (const int node : counting == Counting::exact ? everything(placement.nodes()) : sample_nodes(placement))
    nodes.push_back(count_node(placement.members(node), counting, count));
  return nodes;
}

long long copies_to_send(const schedule::Schedule& s, const schedule::Message& m) {
  if (m.slot == schedule::at_home) return 0;
  long long copies = 0;
  int slot = m.slot;
  for (const schedule::Item& item : s.items_of(m)) copies += item.slot != slot++;
  return copies;
}

long long copies_on_arrival(const schedule::Schedule& s, const schedule::Message& m) {
  if (m.slot == schedule::at_home) return 0;
  const auto items = s.items_of(m);
  return std::count_if(items.begin(), items.end(),
                       [&](const schedule::Item& i) { return i.block.destination == s.rank; });
}

Traffic traffic(const schedule::Strategy& strategy, const topology::Placement& placement) {
  const Counting counting = placement.size() <= counted_exactly ? Counting::exact : Counting::sampled;
  const auto count = [&](int rank) { return count_phases(strategy.schedule(placement, rank), placement); };
  return {.nodes = count_nodes(placement, counting, count), .most_slots = strategy.most_slots(placement)};
}

Cost estimate(const Traffic& traffic, long long block_bytes, const Machine& machine) {
  Cost cost;
  cost.seconds = all_seconds(traffic, static_cast<double>(block_bytes), machine);
  for (const NodeTraffic& node : traffic.nodes) count_busiest(node, cost);
  for (long long* const blocks : {&cost.bytes, &cost.bytes_between, &cost.copied_bytes})
    *blocks *= block_bytes;
  cost.staging_bytes = traffic.most_slots * block_bytes;
  return cost;
}

Cost cost(const schedule::Strategy& strategy, const topology::Placement& placement, long long block_bytes,
          const Machine& machine) {
  return estimate(traffic(strategy, placement), block_bytes, machine);
}

}  // namespace wherry::model
