// How long does the local clustering coefficient of a graph over all ranks take, read with and without a cache?
//
// The second application of Di Girolamo, Vella and Hoefler (Transparent Caching for RMA Systems, IPDPS 2017).
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <optional>

#include "lcc/coefficient.hpp"
#include "lcc/distributed.hpp"
#include "lcc/graph_files.hpp"
#include "lcc/lists.hpp"
#include "remote/comparison.hpp"
#include "remote/exchange.hpp"
#include "remote/options.hpp"
#include "remote/recording.hpp"
#include "support/columns.hpp"
#include "support/drawn.hpp"
#include "support/mpi/application.hpp"
#include "support/mpi/comm.hpp"
#include "support/output_file.hpp"

namespace {

using namespace lcc;
using Links = std::vector<std::uint64_t>;

struct Settings {
  apps::Common common;
  remote::CacheOptions cache;
  Rmat rmat;
  std::string file, format, output, trace;
  apps::Drawn drawn;
  int batch = 16;
  EdgeList read;  // on rank 0, where a file is given
};

constexpr int most_edge_factor = 1 << 12;
constexpr int most_batch = 1 << 20;
constexpr std::uint64_t most_work_to_check = std::uint64_t{1} << 31;  // some seconds of one rank

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const GraphFormat& format : graph_formats()) names.push_back(format.name);
  return names;
}

std::vector<apps::Option> options_of(Settings& settings) {
  Rmat& rmat = settings.rmat;
  apps::Drawn& drawn = settings.drawn;
  std::vector<apps::Option> options = {
      drawn.option({"--scale", "N", "an R-MAT graph of 2^N vertices (default 12)",
                    [&](const std::string& text) { rmat.scale = apps::whole_number(text, 0, most_scale); }}),
      drawn.option({"--edge-factor", "N", "edges drawn for each of its vertices (default 16)",
                    [&](const std::string& text) {
                      rmat.edge_factor = apps::whole_number(text, 0, most_edge_factor);
                    }}),
      drawn.option({"--seed", "N", "another graph for another number (default 1)",
                    [&](const std::string& text) {
                      rmat.seed = static_cast<std::uint64_t>(apps::whole_number(text, 0, 2'147'483'647));
                    }}),
      {"--graph", "FILE", "a graph from a file instead",
       [&](const std::string& text) { settings.file = text; }},
      {"--format", "NAME",
       "matrix-market, metis or edge-list (default: by the file's ending, .mtx, .graph or any other)",
       [&](const std::string& text) {
         apps::one_of(text, format_names());
         settings.format = text;
       }},
      {"--batch", "N", "adjacency lists that are brought together (default 16)",
       [&](const std::string& text) { settings.batch = apps::whole_number(text, 1, most_batch); }},
      {"--output", "FILE", "write the coefficient of each vertex to FILE, a line each",
       [&](const std::string& text) { settings.output = text; }},
      {"--trace", "FILE",
       "write rank 0's gets of adjacency lists to FILE: target, displacement, bytes, score",
       [&](const std::string& text) { settings.trace = text; }},
  };
  std::ranges::move(remote::options(settings.cache, settings.common), std::back_inserter(options));
  return options;
}

/// Reads the graph on rank 0, which alone says what is wrong with it.
void validate(Settings& settings, int) {
  remote::check(settings.cache);
  settings.drawn.check("--graph", settings.file);
  if (!settings.format.empty() && settings.file.empty())
    throw apps::usage_error("--format says what kind of file to read, but not which; add --graph FILE");
  if (apps::rank_of(MPI_COMM_WORLD) != 0) return;
  apps::check_writable(
      {{"--output", settings.output}, {"--trace", settings.trace}, {"--json", settings.common.json}},
      {"--graph", settings.file});
  if (!settings.file.empty()) settings.read = read_graph(settings.file, settings.format);
}

template <class Element>
std::span<const std::byte> bytes_of(const std::vector<Element>& elements) {
  return std::as_bytes(std::span(elements));
}

/// Counts with one variant, from an empty cache.
class Counting {
 public:
  Counting(const Distributed& graph, const Settings& settings) : graph_(graph), settings_(settings) {}

  remote::Statistics run(const remote::Variant& variant, apps::Timings& timings) {
    const auto offsets = variant.make({graph_.comm, bytes_of(graph_.mine.offsets)}, settings_.cache);
    auto neighbors = variant.make({graph_.comm, bytes_of(graph_.mine.neighbors)}, settings_.cache);
    if (records()) neighbors = std::make_unique<remote::RecordingReader>(std::move(neighbors), trace_);
    Lists lists(graph_.partition, apps::rank_of(graph_.comm), graph_.mine, {*offsets, *neighbors});
    Links found;
    timings.time([&] { found = links(graph_.mine, lists, static_cast<std::size_t>(settings_.batch)); });
    if (!links_) links_ = std::move(found);
    else agree_ &= found == *links_;
    return offsets->statistics() + neighbors->statistics();
  }

  const Links& mine() const { return *links_; }
  /// Rank 0's gets in the first run, if they are asked for.
  const std::string& trace() const { return trace_; }
  /// Whether all runs came to the same. Collective.
  bool agree() const { return apps::on_all(agree_, graph_.comm); }

 private:
  bool records() const { return !links_ && !settings_.trace.empty() && apps::rank_of(graph_.comm) == 0; }

  const Distributed& graph_;
  const Settings& settings_;
  std::string trace_;
  std::optional<Links> links_;
  bool agree_ = true;
};

std::vector<double> coefficients(const Distributed& graph, const Links& mine) {
  std::vector<double> all(mine.size());
  for (Vertex v = 0; v < graph.mine.vertices(); ++v) all[v] = coefficient(mine[v], graph.mine.list(v).size());
  return remote::gathered(all, graph.comm);
}

void write(const std::string& path, const std::vector<double>& values) {
  std::string text;
  char line[40];
  for (const double value : values) {
    std::snprintf(line, sizeof line, "%.17g\n", value);
    text += line;
  }
  apps::write_whole(path, text);
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

std::string name_of(const Settings& settings) {
  return settings.file.empty() ? "R-MAT " + std::to_string(settings.rmat.scale)
                               : settings.file.substr(settings.file.find_last_of('/') + 1);
}

std::string head(const Settings& settings, const Distributed& graph, const Links& links, double mean) {
  const std::uint64_t edges =
      apps::reduced(std::uint64_t{graph.mine.neighbors.size()}, MPI_SUM, graph.comm) / 2;
  const std::uint64_t triangles = std::reduce(links.begin(), links.end(), std::uint64_t{0}) / 6;
  return "local clustering coefficient of " + name_of(settings) + ": " +
         apps::counted(graph.partition.vertices, "vertex", "vertices") + ", " +
         apps::counted(edges, "edge", "edges") + ", " + apps::counted(triangles, "triangle", "triangles") +
         ", mean " + apps::fixed(mean, 6);
}

apps::Results work(const Settings& settings, MPI_Comm comm, apps::Progress& progress) {
  const Distributed graph =
      settings.file.empty() ? drawn(settings.rmat, comm) : distributed(settings.read, comm);
  Counting counting(graph, settings);
  remote::Comparison comparison(comm, settings.cache);
  const int turns = settings.common.turns;
  for (int i = 0; i < turns; ++i) {
    progress.show("counting", i, turns);
    comparison.turn(i, [&](const remote::Variant& variant, apps::Timings& timings) {
      return counting.run(variant, timings);
    });
  }
  const Links links = remote::gathered(counting.mine(), comm);
  const std::vector<double> values = coefficients(graph, counting.mine());
  const bool check = lcc::work(graph) <= most_work_to_check;
  std::string wrong = counting.agree() ? "" : "two runs on the same graph differ";
  if (wrong.empty() && check) wrong = problem_of(graph, links);
  if (wrong.empty() && apps::rank_of(comm) == 0) {
    if (!settings.output.empty()) write(settings.output, values);
    if (!settings.trace.empty()) apps::write_whole(settings.trace, counting.trace());
  }
  return {.head = head(settings, graph, links, mean(values)),
          .measurements = comparison.measurements(name_of(settings), "counting"),
          .wrong = wrong,
          .right = check ? "all runs found the same coefficients, and so does one rank alone"
                         : "all runs found the same coefficients; too many for one rank to count alone",
          .side = "cached",
          .more = comparison.table()};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const apps::Application application = {
      .manual =
          {.program = "lcc",
           .summary =
               "Computes the local clustering coefficient of every vertex of a graph that lies on all "
               "ranks, with\n"
               "one-sided gets of adjacency lists: by plain MPI and through caches, in turns. Checks the "
               "result and\n"
               "prints how long that takes.",
           .examples = {"mpiexec -n 8 lcc", "mpiexec -n 8 lcc --scale 14 --cache-kib 16384 --json lcc.json",
                        "mpiexec -n 4 lcc --graph email-Enron.mtx --output coefficients.txt"}},
      .options = options_of(settings),
      .common = settings.common,
      .validate = [&](int ranks) { validate(settings, ranks); },
      .work = [&](MPI_Comm comm, apps::Progress& progress) { return work(settings, comm, progress); },
  };
  return apps::run(argc, argv, application);
}
