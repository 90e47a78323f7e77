#include "tools/questions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "schedule/graph/trial_graphs.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/candidates.hpp"

namespace wherry::tools {
namespace {

constexpr int most_ranks = 16384;
constexpr int usual_depth = 4;  // of a pipeline in a picture

NamedCollective operation_of(Collective collective) {
  std::string name(name_of(collective).substr(std::string_view("MPI_").size()));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return {collective, name, schedule::segment_operation(collective)};
}

std::string joined(std::span<const std::string_view> words) {
  std::string all;
  for (const std::string_view word : words) (all += all.empty() ? "" : ", ") += word;
  return all;
}

using Names = std::vector<std::string_view>;

/// also: what could have been meant as well.
[[noreturn]] void refuse(const std::string& what, const std::string& name, const Names& known,
                         const Names& also) {
  Names near = known;
  near.insert(near.end(), also.begin(), also.end());
  throw usage_error("unknown " + what + " '" + name + "' (have: " + joined(known) + ")" +
                    did_you_mean(name, near));
}

Names names_of(const std::vector<schedule::Algorithm>& algorithms) {
  Names all;
  for (const schedule::Algorithm& algorithm : algorithms) all.push_back(algorithm.name());
  return all;
}

Names operation_names() {
  Names all;
  for (const NamedCollective& operation : operations()) all.push_back(operation.name);
  return all;
}

const NamedCollective* find_operation(const std::string& name) {
  const auto found = std::ranges::find(operations(), name, &NamedCollective::name);
  return found == operations().end() ? nullptr : &*found;
}

/// The operations that have a strategy of this name.
Names operations_with(const std::string& name) {
  Names all;
  for (const NamedCollective& operation : operations())
    for (const schedule::Algorithm& algorithm : algorithms_of(operation))
      if (algorithm.name() == name) all.push_back(operation.name);
  return all;
}

/// also: what could have been meant besides a strategy.
schedule::Algorithm find_algorithm(const NamedCollective& operation, const std::string& name,
                                   const Names& also) {
  const std::vector<schedule::Algorithm> algorithms = algorithms_of(operation);
  const auto found = std::ranges::find(algorithms, std::string_view(name), &schedule::Algorithm::name);
  if (found != algorithms.end()) return *found;
  if (const Names others = operations_with(name); !others.empty())
    throw usage_error("'" + name + "' is no strategy of " + operation.name +
                      " (have: " + joined(names_of(algorithms)) + "), but one of " + joined(others) +
                      "; write for example '" + std::string(others.front()) + " " + name + "'");
  refuse(operation.name + " strategy", name, names_of(algorithms), also);
}

topology::Placement listed(const std::string& list, int ranks) {
  std::vector<int> node_of;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    node_of.push_back(
        static_cast<int>(parse_number("--node-of: node", list.substr(at, comma - at), 0, INT32_MAX)));
    at = comma + 1;
  }
  if (static_cast<int>(node_of.size()) != ranks)
    throw usage_error("--node-of places " + plural(static_cast<int>(node_of.size()), "rank") + " of " +
                      std::to_string(ranks) + "; list one node per rank");
  return topology::Placement::placed(node_of);
}

/// "4x4x2": one to three dimensions.
std::vector<int> extents(const std::string& grid) {
  std::vector<int> found;
  long long ranks = 1;
  for (std::size_t at = 0; at <= grid.size();) {
    const std::size_t cross = std::min(grid.find('x', at), grid.size());
    found.push_back(
        static_cast<int>(parse_number("--grid: extent", grid.substr(at, cross - at), 1, most_ranks)));
    if ((ranks *= found.back()) > most_ranks)
      throw usage_error("--grid " + grid + " has more than " + std::to_string(most_ranks) +
                        " ranks; name a smaller one");
    at = cross + 1;
  }
  if (found.size() > 3)
    throw usage_error("--grid " + grid + " has " + std::to_string(found.size()) +
                      " dimensions; name at most 3");
  return found;
}

}  // namespace

const std::vector<NamedCollective>& operations() {
  static const std::vector<NamedCollective> all = [] {
    std::vector<NamedCollective> made;
    for (std::size_t i = 0; i < collectives; ++i) made.push_back(operation_of(static_cast<Collective>(i)));
    return made;
  }();
  return all;
}

const NamedCollective& operation_named(const std::string& name) {
  if (const NamedCollective* found = find_operation(name)) return *found;
  refuse("operation", name, operation_names(), {});
}

std::vector<schedule::Algorithm> algorithms_of(const NamedCollective& operation) {
  if (!operation.of_neighbors()) return schedule::algorithms_of(operation.segments);
  std::vector<schedule::Algorithm> algorithms;
  for (const schedule::Strategy& s : schedule::neighborhood_strategies()) algorithms.emplace_back(s);
  return algorithms;
}

std::string_view needs_of(const NamedCollective& operation, const schedule::Algorithm& algorithm) {
  if (!operation.of_neighbors()) return algorithm.needs();
  return schedule::find_neighborhood_strategy(algorithm.name())->on_graph.needs;
}

schedule::Algorithm algorithm_named(const NamedCollective& operation, const std::string& name) {
  return find_algorithm(operation, name, {});
}

NamedStrategy named_strategy(std::span<const std::string> words) {
  if (words.empty()) throw usage_error("no strategy named; see `wherry-plan strategies`");
  if (words.size() == 2) {
    const NamedCollective& operation = operation_named(words[0]);
    return {operation, algorithm_named(operation, words[1])};
  }
  if (const NamedCollective* operation = find_operation(words[0]))
    throw usage_error("which strategy of " + operation->name +
                      "? name one after it (have: " + joined(names_of(algorithms_of(*operation))) + ")");
  const NamedCollective& usual = operation_named("alltoall");
  return {usual, find_algorithm(usual, words[0], operation_names())};
}

topology::Placement placement_of(const CommandLine& options) {
  return placement_of(options, static_cast<int>(options.number("-n", 1, most_ranks, {})));
}

topology::Placement placement_of(const CommandLine& options, int ranks) {
  if (options.has("--nodes") && options.has("--node-of"))
    throw usage_error("--nodes and --node-of exclude each other; give one");
  if (const auto list = options.text("--node-of")) return listed(*list, ranks);
  return topology::Placement::spread(ranks, static_cast<int>(options.number("--nodes", 1, ranks, ranks)));
}

std::optional<Stencil> stencil_of(const CommandLine& options, const NamedCollective& operation) {
  const auto grid = options.text("--grid");
  if (!operation.of_neighbors()) {
    if (grid) throw usage_error("--grid is given, but " + operation.name + " has no neighbors; leave it out");
    return std::nullopt;
  }
  if (!grid)
    throw usage_error(operation.name + " depends on who sends to whom; name a grid, such as --grid 4x4x4");
  const schedule::Torus torus{.extents = extents(*grid)};
  if (const long long asked = options.number("-n", 1, most_ranks, torus.size()); asked != torus.size())
    throw usage_error("--grid " + *grid + " holds " + plural(torus.size(), "rank") + ", not " +
                      std::to_string(asked) + "; give -n " + std::to_string(torus.size()) +
                      " or leave it out");
  const int reach = static_cast<int>(options.number("--reach", 1, 8, 1));
  return Stencil{.graph = schedule::Graph(schedule::stencil(torus, reach)),
                 .placement = placement_of(options, torus.size()),
                 .grid = *grid};
}

schedule::Routed routed(const Stencil& stencil, const schedule::Algorithm& algorithm) {
  const schedule::Strategy& strategy = *schedule::find_neighborhood_strategy(algorithm.name());
  schedule::Routed made(strategy, stencil.graph, stencil.placement);
  if (!made.applies())
    throw usage_error(std::string(algorithm.name()) + " does not apply to --grid " + stencil.grid + " on " +
                      plural(stencil.placement.nodes(), "node") + "; it needs " +
                      std::string(strategy.on_graph.needs) + " (see --grid, --reach, --nodes, --node-of)");
  return made;
}

int root_of(const CommandLine& options, const NamedCollective& operation,
            const topology::Placement& placement) {
  if (options.has("--root") && !operation.has_root())
    throw usage_error("--root is given, but " + operation.name + " has no root; leave it out");
  return static_cast<int>(options.number("--root", 0, placement.size() - 1, 0));
}

schedule::Algorithm applicable(const NamedStrategy& named, const CommandLine& options,
                               const topology::Placement& placement) {
  const schedule::Algorithm& algorithm = named.algorithm;
  if (!algorithm.applies(placement))
    throw usage_error(std::string(algorithm.name()) + " does not apply to " +
                      plural(placement.size(), "rank") + " on " + plural(placement.nodes(), "node") +
                      "; it needs " + std::string(algorithm.needs()) + " (see -n, --nodes, --node-of)");
  if (options.has("--depth") && !algorithm.is_pipelined())
    throw usage_error("--depth is given, but " + std::string(algorithm.name()) +
                      " is not pipelined; leave it out");
  if (!algorithm.is_pipelined()) return algorithm;
  return algorithm.with_depth(static_cast<int>(options.number("--depth", 1, tuning::deepest, usual_depth)));
}

std::string plural(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace wherry::tools
