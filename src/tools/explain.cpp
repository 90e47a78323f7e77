// wherry-plan explain: what the runtime would try, and what each strategy costs.
//
// Which ones are tried, and how deep pipelines are, is decided as the runtime does it: for the size class of the call,
// and for any root. The costs are those of the size and the root that were asked for.
#include <algorithm>
#include <iostream>
#include <limits>

#include "base/json_writer.hpp"
#include "base/settings.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tools/commands.hpp"
#include "tools/fit_command.hpp"
#include "tools/questions.hpp"
#include "tuning/candidates.hpp"
#include "tuning/shortlist.hpp"
#include "tuning/staging_limits.hpp"

namespace wherry::tools {
namespace {

using tuning::AlgorithmCandidate;
using tuning::Estimate;

constexpr long long most_bytes = 1LL << 31;  // keeps all products within 64 bits

struct Question {
  NamedCollective operation;
  topology::Placement placement;
  std::optional<Stencil> stencil;  // of neighborhood collectives
  int root;
  tuning::Load load;
  long long staging_max;
  EstimateConstants constants;
};

Question question_in(const CommandLine& options) {
  const NamedCollective& operation = operation_named(options.text("--op").value_or("alltoall"));
  const std::optional<Stencil> stencil = stencil_of(options, operation);
  const topology::Placement placement = stencil ? stencil->placement : placement_of(options);
  const bool empty = operation.segments == schedule::Operation::barrier;
  const long long bytes =
      options.number("-m", 0, most_bytes, empty ? std::optional<long long>(0) : std::nullopt);
  const Settings settings = read_settings(read_variable, false);
  return {.operation = operation,
          .placement = placement,
          .stencil = stencil,
          .root = root_of(options, operation, placement),
          .load = {placement.size(), bytes},
          .staging_max = static_cast<long long>(settings.staging_max),
          .constants = estimate_constants(options)};
}

/// A strategy and what becomes of it.
struct Evaluated {
  schedule::Algorithm algorithm;  // as deep as the runtime makes it
  model::Cost cost;
};

bool is_in_blocks(const Question& q) {
  return !q.operation.segments || schedule::in_blocks(*q.operation.segments);
}

/// The calls that share what is learned with those in question.
tuning::Calls calls_like(const Question& q, Limit limit = Limit::none) {
  return {q.operation.collective, limit, {q.load.ranks, tuning::shared_bytes(q.load.bytes, is_in_blocks(q))}};
}

/// Candidates are counted for root 0.
model::Cost cost_of(const Question& q, const AlgorithmCandidate& candidate) {
  const auto cost = [&](const AlgorithmCandidate& o) { return tuning::cost(o, q.load, q.constants.machine); };
  return q.root == 0 ? cost(candidate) : cost(tuning::counted(candidate.algorithm, q.placement, q.root));
}

struct Refused {
  std::string_view name;
  std::string why;
};

struct Answer {
  std::vector<std::string> tried;           // in that order
  std::vector<std::string> tried_in_order;  // if the operation of a reduction does not commute
  std::vector<Evaluated> candidates;        // cheapest first
  std::vector<Refused> refused;
};

std::vector<std::string> names(const std::vector<tuning::Candidate>& candidates) {
  std::vector<std::string> all;
  for (const tuning::Candidate& c : candidates) all.push_back(c.name);
  return all;
}

/// 1500000 -> "2 MiB"
std::string rounded_up(long long bytes) {
  constexpr long long kib = 1 << 10, mib = 1 << 20;
  const long long unit = bytes < mib ? kib : mib;
  return std::to_string((bytes + unit - 1) / unit) + (unit == mib ? " MiB" : " KiB");
}

/// Why none of an algorithm's candidates is taken.
std::string reason(const Question& q, const schedule::Algorithm& algorithm,
                   std::span<const AlgorithmCandidate> candidates) {
  const auto is_of_algorithm = [&](const AlgorithmCandidate& o) {
    return o.algorithm.name() == algorithm.name();
  };
  if (std::ranges::none_of(candidates, is_of_algorithm))
    return "needs " + std::string(needs_of(q.operation, algorithm));
  long long least = std::numeric_limits<long long>::max();
  for (const AlgorithmCandidate& o : candidates)
    if (is_of_algorithm(o)) least = std::min(least, tuning::staging_bytes(o, calls_like(q)));
  return "may need " + rounded_up(least) + " of staging, and WHERRY_STAGING_MAX allows " +
         rounded_up(q.staging_max);
}

Answer answer_to(const Question& q) {
  const std::vector<AlgorithmCandidate> candidates = q.stencil
                                                         ? tuning::survey(q.stencil->graph, q.placement)
                                                         : tuning::survey(q.placement, q.operation.segments);
  const auto taken = [&](Limit limit) {
    const tuning::Calls calls = calls_like(q, limit);
    const auto fits = [&](const AlgorithmCandidate& o) {
      return tuning::fits(o, calls, q.placement, {q.staging_max});
    };
    return tuning::estimates(candidates, calls.load, q.constants.machine, fits);
  };
  const std::vector<Estimate> estimates = taken(Limit::none);

  const auto tried = [&](std::span<const Estimate> of) {
    return names(tuning::shortlist_for(q.operation.collective,
                                       tuning::candidates(of, calls_like(q).load, q.constants.machine)));
  };
  Answer answer{.tried = tried(estimates), .tried_in_order = {}, .candidates = {}, .refused = {}};
  if (q.stencil && !tuning::is_promising(q.stencil->graph, q.placement)) answer.tried = {"native"};
  if (q.operation.reduces()) answer.tried_in_order = tried(taken(Limit::in_order));
  for (const Estimate& p : estimates)
    answer.candidates.push_back({p.candidate->algorithm, cost_of(q, *p.candidate)});
  // Equal costs in the registry's order.
  std::ranges::stable_sort(answer.candidates, {}, [](const Evaluated& e) { return e.cost.seconds; });
  for (const schedule::Algorithm& algorithm : algorithms_of(q.operation))
    if (std::ranges::none_of(
            estimates, [&](const Estimate& p) { return p.candidate->algorithm.name() == algorithm.name(); }))
      answer.refused.push_back({algorithm.name(), reason(q, algorithm, candidates)});
  return answer;
}

void write_names(JsonWriter& json, const std::vector<std::string>& names) {
  json.array([&] {
    for (const std::string& name : names) json.value(name);
  });
}

void write_candidate(JsonWriter& json, const Question& q, const Evaluated& c) {
  json.object([&] {
    json.member("name", c.algorithm.name());
    json.member("summary", c.algorithm.summary());
    if (c.algorithm.is_pipelined()) json.member("depth", c.algorithm.depth());
    if (q.operation.reduces()) json.member("keeps_order", c.algorithm.keeps_order(q.placement));
    json.member("seconds", c.cost.seconds);
    json.member("messages", c.cost.messages);
    json.member("messages_between", c.cost.messages_between);
    json.member("bytes", c.cost.bytes);
    json.member("bytes_between", c.cost.bytes_between);
    json.member("copied_bytes", c.cost.copied_bytes);
    json.member("staging_bytes", c.cost.staging_bytes);
    json.member("phases", c.cost.phases);
  });
}

void write_question(JsonWriter& json, const Question& q) {
  json.member("op", q.operation.name);
  json.member("ranks", q.placement.size());
  json.member("nodes", q.placement.nodes());
  if (q.operation.has_root()) json.member("root", q.root);
  if (q.stencil) json.member("neighbors", q.stencil->graph.most_neighbors());
  const bool blocks = is_in_blocks(q);
  json.member(blocks ? "block_bytes" : "buffer_bytes", q.load.bytes);
  json.member("priced_by", [&] { write(json, q.constants); });
  json.member("node_sizes", [&] {
    json.array([&] {
      for (int node = 0; node < q.placement.nodes(); ++node) json.value(q.placement.members(node).size());
    });
  });
}

}  // namespace

int explain(Words words) {
  const Question q = question_in(CommandLine(words,
                                             {"--op", "-n", "--nodes", "--node-of", "-m", "--root",
                                              "--tuning", "--mpi", "--constants", "--grid", "--reach"},
                                             0));
  const Answer answer = answer_to(q);
  JsonWriter json(std::cout);
  json.object([&] {
    write_question(json, q);
    json.member("tried", [&] { write_names(json, answer.tried); });
    if (q.operation.reduces())
      json.member("tried_in_order", [&] { write_names(json, answer.tried_in_order); });
    json.member("candidates", [&] {
      json.array([&] {
        for (const Evaluated& c : answer.candidates) write_candidate(json, q, c);
      });
    });
    json.member("not_applicable", [&] {
      json.array([&] {
        for (const Refused& r : answer.refused)
          json.object([&] {
            json.member("name", r.name);
            json.member("why", r.why);
          });
      });
    });
  });
  return 0;
}

}  // namespace wherry::tools
