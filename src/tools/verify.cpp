// wherry-plan verify: proves the schedules of every strategy, on every number of ranks and many placements.
#include "plan/verify.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "plan/neighbours/trial_graphs.hpp"
#include "plan/neighbours/verify.hpp"
#include "plan/segments/verify.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

using choose::Way;
using plan::Parameters;
using plan::Shape;

/// One way on one shape; in a neighbourhood, on a graph too.
struct Case {
  const Operation& operation;
  Way way;
  const Shape& shape;
  int root = 0;
  const plan::TrialGraph* graph = nullptr;
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

std::string placement_list(const Shape& shape) {
  std::string list;
  for (int rank = 0; rank < shape.size(); ++rank)
    (list += rank == 0 ? "" : ",") += std::to_string(shape.node_of(rank));
  return list;
}

/// Strategies that work on the flat placement do not look at nodes (a unit test holds them to it): once
/// is enough.
std::vector<Shape> placements_for(const Way& way, int ranks) {
  std::vector<Shape> shapes = plan::trial_placements(ranks);
  if (way.applies(shapes.front())) return {shapes.front()};
  std::erase_if(shapes, [&](const Shape& shape) { return !way.applies(shape); });
  return shapes;
}

/// The first and the last: one leads its node whoever the root is, the other only if it is the root.
std::set<int> roots_for(const Operation& operation, int ranks) {
  return operation.has_root() ? std::set{0, ranks - 1} : std::set{0};
}

/// A pipeline that is not filled, and one that is.
std::vector<int> depths_for(const Way& way) {
  return way.is_pipelined() ? std::vector{1, 5} : std::vector{1};
}

void prove(const plan::Strategy& s, const Shape& shape) {
  const std::vector<plan::Schedule> all = plan::schedules(s, shape);
  plan::verify(all);
  const int most = s.most_slots(shape);
  for (const plan::Schedule& schedule : all)
    if (schedule.slots > most)
      throw schedule_error("rank " + std::to_string(schedule.rank) + " uses " +
                           std::to_string(schedule.slots) + " slots, of at most " + std::to_string(most));
}

void prove(const plan::SegmentStrategy& s, const Shape& shape, const Parameters& parameters) {
  plan::verify({s.operation, parameters.root, s.keeps_order(shape)}, plan::schedules(s, shape, parameters));
}

/// false: the strategy does not apply.
bool prove(const plan::NeighbourStrategy& s, const plan::Graph& graph, const Shape& shape) {
  const plan::Routed routed(s, graph, shape);
  if (routed.applies()) plan::verify(routed, graph);
  return routed.applies();
}

class Proof {
 public:
  void check(const Case& c) {
    try {
      if (c.graph != nullptr && !prove(*c.way.neighbours, plan::Graph(c.graph->targets), c.shape)) return;
      schedules_ += c.shape.size();
      if (c.graph != nullptr) return;
      if (c.way.exchange != nullptr) prove(*c.way.exchange, c.shape);
      else prove(*c.way.segments, c.shape, {.root = c.root, .depth = c.way.depth});
    } catch (const schedule_error& error) {
      const std::string graph = c.graph == nullptr ? "" : c.graph->name + ": ";
      failures_.push_back({c.operation.name, c.way.name(), c.way.depth, c.root, c.shape.size(),
                           placement_list(c.shape), graph + error.what()});
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

void check_graphs(int most_ranks, const Subject& subject, Proof& proof) {
  for (int ranks = 1; ranks <= std::min(most_ranks, most_ranks_in_graphs); ++ranks)
    for (const plan::TrialGraph& graph : plan::trial_graphs(ranks, seed + static_cast<std::uint64_t>(ranks)))
      for (const Shape& shape : plan::trial_placements(ranks))
        proof.check({.operation = subject.operation, .way = subject.way, .shape = shape, .graph = &graph});
}

void check_up_to(int most_ranks, const Subject& subject, Proof& proof) {
  if (subject.operation.of_neighbours()) return check_graphs(most_ranks, subject, proof);
  Way way = subject.way;
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const Shape& shape : placements_for(way, ranks))
      for (const int root : roots_for(subject.operation, ranks))
        for (const int depth : depths_for(way)) {
          way.depth = depth;
          proof.check({subject.operation, way, shape, root});
        }
}

/// All there are, or only those of an operation, or of a name. Operations with the same schedules are proved once.
std::vector<Subject> chosen(const Options& options) {
  const auto operation = options.text("--op"), strategy = options.text("--strategy");
  if (operation && strategy) return {subject(std::vector{*operation, *strategy})};
  if (strategy) return {subject(std::vector{*strategy})};
  const Operation* const only = operation ? &operation_named(*operation) : nullptr;
  std::vector<Subject> all;
  for (const Operation& o : operations()) {
    const auto same = [&](const Subject& s) { return s.operation.is_like(o); };
    if ((only != nullptr && only != &o) || std::ranges::any_of(all, same)) continue;
    for (const Way& way : ways_of(o)) all.push_back({o, way});
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
  const Options options(words, {"--max", "--op", "--strategy"}, 0);
  const int most_ranks = static_cast<int>(options.number("--max", 1, 1024, 128));
  const std::vector<Subject> subjects = chosen(options);
  const auto start = std::chrono::steady_clock::now();
  const bool progress = isatty(STDERR_FILENO) != 0;
  Proof proof;
  for (const Subject& subject : subjects) {
    if (progress)
      std::cerr << "\r\033[K" << subject.operation.name << ' ' << subject.way.name() << std::flush;
    check_up_to(most_ranks, subject, proof);
  }
  if (progress) std::cerr << "\r\033[K";

  JsonWriter json(std::cout);
  json.object([&] {
    json.member("schedules", proof.schedules());
    json.member("strategies", subjects.size());
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
