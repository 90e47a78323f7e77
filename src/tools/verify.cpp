// wherry-plan verify: proves the schedules of every strategy, on every number of ranks and many placements.
#include "schedule/blocks/block_verify.hpp"
#include "topology/trial_placements.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/graph/trial_graphs.hpp"
#include "schedule/segments/segment_verify.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

using schedule::Algorithm;
using schedule::Parameters;
using topology::Placement;

/// One algorithm on one placement; in a neighborhood, on a graph too.
struct Case {
  const NamedCollective& operation;
  Algorithm algorithm;
  const Placement& placement;
  int root = 0;
  const schedule::TrialGraph* graph = nullptr;
};

struct Failure {
  std::string_view operation;
  std::string_view strategy;
  int depth;
  int root;
  int ranks;
  std::string placement;
  std::string what;
};

std::string placement_list(const Placement& placement) {
  std::string list;
  for (int rank = 0; rank < placement.size(); ++rank)
    (list += rank == 0 ? "" : ",") += std::to_string(placement.node_of(rank));
  return list;
}

/// Strategies that work on the flat placement do not look at nodes (a unit test holds them to it): once
/// is enough.
std::vector<Placement> placements_for(const Algorithm& algorithm, int ranks) {
  std::vector<Placement> placements = topology::trial_placements(ranks);
  if (algorithm.applies(placements.front())) return {placements.front()};
  std::erase_if(placements, [&](const Placement& placement) { return !algorithm.applies(placement); });
  return placements;
}

/// The first and the last: one leads its node whoever the root is, the other only if it is the root.
std::set<int> roots_for(const NamedCollective& operation, int ranks) {
  return operation.has_root() ? std::set{0, ranks - 1} : std::set{0};
}

/// A pipeline that is not filled, and one that is.
std::vector<int> depths_for(const Algorithm& algorithm) {
  return algorithm.is_pipelined() ? std::vector{1, 5} : std::vector{1};
}

void prove(const schedule::Strategy& s, const Placement& placement) {
  const std::vector<schedule::Schedule> all = schedule::schedules(s, placement);
  schedule::verify(all);
  const int most = s.most_slots(placement);
  for (const schedule::Schedule& schedule : all)
    if (schedule.slots > most)
      throw schedule_error("rank " + std::to_string(schedule.rank) + " uses " +
                           std::to_string(schedule.slots) + " slots, of at most " + std::to_string(most));
}

void prove(const schedule::SegmentStrategy& s, const Placement& placement, const Parameters& parameters) {
  schedule::verify({s.operation, parameters.root, s.keeps_order(placement)},
                   schedule::schedules(s, placement, parameters));
}

/// Schedules that were proved: none if the strategy does not apply.
int prove(const schedule::Strategy& s, const schedule::Graph& graph, const Placement& placement) {
  const schedule::Routed routed(s, graph, placement);
  if (!routed.applies()) return 0;
  schedule::verify(routed, graph);
  return placement.size();
}

int prove(const Case& c) {
  return c.algorithm.visit(
      [&](const schedule::Strategy& s) {
        if (c.graph != nullptr) return prove(s, schedule::Graph(c.graph->targets), c.placement);
        prove(s, c.placement);
        return c.placement.size();
      },
      [&](const schedule::SegmentStrategy& s, int depth) {
        prove(s, c.placement, {.root = c.root, .depth = depth});
        return c.placement.size();
      });
}

class Proof {
 public:
  void check(const Case& c) {
    try {
      schedules_ += prove(c);
    } catch (const schedule_error& error) {
      const std::string graph = c.graph == nullptr ? "" : c.graph->name + ": ";
      failures_.push_back({c.operation.name, c.algorithm.name(), c.algorithm.depth(), c.root,
                           c.placement.size(), placement_list(c.placement), graph + error.what()});
    }
  }

  long long schedules() const { return schedules_; }
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  long long schedules_ = 0;
  std::vector<Failure> failures_;
};

constexpr std::uint64_t seed = 20261122;  // of random graphs: that of ranks is so many more
/// Graphs have up to as many edges as pairs of ranks.
constexpr int most_ranks_in_graphs = 40;

void check_graphs(int most_ranks, const NamedStrategy& named, Proof& proof) {
  for (int ranks = 1; ranks <= std::min(most_ranks, most_ranks_in_graphs); ++ranks)
    for (const schedule::TrialGraph& graph :
         schedule::trial_graphs(ranks, seed + static_cast<std::uint64_t>(ranks)))
      for (const Placement& placement : topology::trial_placements(ranks))
        proof.check({.operation = named.operation,
                     .algorithm = named.algorithm,
                     .placement = placement,
                     .graph = &graph});
}

void check_up_to(int most_ranks, const NamedStrategy& named, Proof& proof) {
  if (named.operation.of_neighbors()) return check_graphs(most_ranks, named, proof);
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const Placement& placement : placements_for(named.algorithm, ranks))
      for (const int root : roots_for(named.operation, ranks))
        for (const int depth : depths_for(named.algorithm))
          proof.check({named.operation, named.algorithm.with_depth(depth), placement, root});
}

/// All there are, or only those of an operation, or of a name. Operations with the same schedules are proved once.
std::vector<NamedStrategy> chosen(const CommandLine& options) {
  const auto operation = options.text("--op"), strategy = options.text("--strategy");
  if (operation && strategy) return {named_strategy(std::vector{*operation, *strategy})};
  if (strategy) return {named_strategy(std::vector{*strategy})};
  const NamedCollective* const only = operation ? &operation_named(*operation) : nullptr;
  std::vector<NamedStrategy> all;
  for (const NamedCollective& o : operations()) {
    const auto same = [&](const NamedStrategy& s) { return s.operation.is_like(o); };
    if ((only != nullptr && only != &o) || std::ranges::any_of(all, same)) continue;
    for (const Algorithm& algorithm : algorithms_of(o)) all.push_back({o, algorithm});
  }
  return all;
}

void write(JsonWriter& json, const Failure& f) {
  json.object([&] {
    json.member("operation", f.operation);
    json.member("strategy", f.strategy);
    json.member("depth", f.depth);
    json.member("root", f.root);
    json.member("ranks", f.ranks);
    json.member("node_of", f.placement);
    json.member("what", f.what);
  });
}

}  // namespace

int verify(Words words) {
  const CommandLine options(words, {"--max", "--op", "--strategy"}, 0);
  const int most_ranks = static_cast<int>(options.number("--max", 1, 1024, 128));
  const std::vector<NamedStrategy> strategies = chosen(options);
  const auto start = std::chrono::steady_clock::now();
  const bool progress = isatty(STDERR_FILENO) != 0;
  Proof proof;
  for (const NamedStrategy& named : strategies) {
    if (progress)
      std::cerr << "\r\033[K" << named.operation.name << ' ' << named.algorithm.name() << std::flush;
    check_up_to(most_ranks, named, proof);
  }
  if (progress) std::cerr << "\r\033[K";

  JsonWriter json(std::cout);
  json.object([&] {
    json.member("schedules", proof.schedules());
    json.member("strategies", strategies.size());
    json.member("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    json.member("failures", [&] {
      json.array([&] {
        for (const Failure& f : proof.failures()) write(json, f);
      });
    });
  });
  return proof.failures().empty() ? 0 : 1;
}

}  // namespace wherry::tools
