#include "lcc/graph_files.hpp"

#include <algorithm>
#include <array>

#include "support/lines.hpp"

namespace lcc {
namespace {

using apps::Lines;

/// A list of edges as SNAP and Network Repository have them: "from to", perhaps a weight or a time; vertices from 0 on.
EdgeList parse_edge_list(const std::string& name, std::string_view text) {
  Lines lines(name, text);
  EdgeList graph;
  while (lines.next_but("#%")) {
    const auto from = lines.number<std::uint64_t>("first vertex", 0, most_vertices - 1);
    const auto to = lines.number<std::uint64_t>("second vertex", 0, most_vertices - 1);
    graph.edges.push_back({static_cast<Vertex>(from), static_cast<Vertex>(to)});
    graph.vertices = std::max(graph.vertices, static_cast<Vertex>(std::max(from, to) + 1));
  }
  return graph;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return out;
}

struct Field {
  std::string_view name;
  int numbers;  // behind row and column
};
constexpr std::array<Field, 4> fields = {{{"pattern", 0}, {"integer", 1}, {"real", 1}, {"complex", 2}}};

/// Reads "%%MatrixMarket matrix coordinate FIELD SYMMETRY".
Field matrix_market_head(Lines& lines) {
  if (!lines.next() || lower(lines.word()) != "%%matrixmarket")
    lines.fail("a Matrix Market file begins with %%MatrixMarket; say --format if it is another kind of file");
  if (lower(lines.word()) != "matrix") lines.fail("the object is not a matrix");
  if (lower(lines.word()) != "coordinate")
    lines.fail("the matrix is dense; only coordinate matrices are graphs");
  const std::string wanted = lower(lines.word());
  const auto* const field = std::ranges::find(fields, wanted, &Field::name);
  if (field == fields.end())
    lines.fail("the field '" + apps::shown(wanted) + "' is none of pattern, integer, real, complex");
  return *field;
}

EdgeList parse_matrix_market(const std::string& name, std::string_view text) {
  Lines lines(name, text);
  const Field field = matrix_market_head(lines);
  if (!lines.next_but("%")) lines.fail("the line with the numbers of rows, columns and entries is missing");
  const auto rows = lines.number<std::uint64_t>("number of rows", 0, most_vertices);
  const auto columns = lines.number<std::uint64_t>("number of columns", 0, most_vertices);
  const auto entries = lines.number<std::uint64_t>("number of entries", 0, std::uint64_t{1} << 40);
  if (rows != columns)
    lines.fail("a graph has as many rows as columns, not " + std::to_string(rows) + " x " +
               std::to_string(columns));
  EdgeList graph{.vertices = static_cast<Vertex>(rows), .edges = {}};
  while (lines.next_but("%")) {
    if (graph.edges.size() == entries)
      lines.fail("there are more entries than the " + std::to_string(entries) + " that the file announces");
    const auto row = lines.number<std::uint64_t>("row", 1, rows);
    const auto column = lines.number<std::uint64_t>("column", 1, columns);
    for (int i = 0; i < field.numbers; ++i) lines.number<double>("value", -1e308, 1e308);
    lines.expect_end();
    graph.edges.push_back({static_cast<Vertex>(row - 1), static_cast<Vertex>(column - 1)});
  }
  if (graph.edges.size() != entries)
    lines.fail("the file ends after " + std::to_string(graph.edges.size()) + " of " +
               std::to_string(entries) + " entries");
  return graph;
}

/// The first line of a METIS file: "vertices edges [format [constraints]]".
struct MetisHead {
  std::uint64_t vertices = 0, edges = 0;
  int vertex_numbers = 0;  // sizes and weights before a vertex's neighbors
  bool edge_weights = false;
};

MetisHead metis_head(Lines& lines) {
  if (!lines.next_but("%")) lines.fail("the line with the numbers of vertices and edges is missing");
  MetisHead head;
  head.vertices = lines.number<std::uint64_t>("number of vertices", 0, most_vertices);
  head.edges = lines.number<std::uint64_t>("number of edges", 0, std::uint64_t{1} << 40);
  const std::string format = "00" + std::string(lines.has_word() ? lines.word() : "0");
  if (format.size() > 5 || format.find_first_not_of("01") != format.npos)
    lines.fail("the format '" + apps::shown(format.substr(2)) +
               "' is not made of at most three digits 0 and 1");
  const auto digit = [&](std::size_t from_end) { return format[format.size() - from_end] == '1'; };
  const int weights = lines.has_word() ? lines.number<int>("number of weights", 0, 1000) : 1;
  head.edge_weights = digit(1);
  head.vertex_numbers = (digit(2) ? weights : 0) + (digit(3) ? 1 : 0);
  lines.expect_end();
  return head;
}

/// A vertex without neighbors has an empty line; only comments are no vertices.
bool next_vertex(Lines& lines) {
  while (lines.next())
    if (!lines.begins_with('%')) return true;
  return false;
}

void check_end(Lines& lines, const MetisHead& head) {
  if (lines.next_but("%"))
    lines.fail("there are more lines than the " + std::to_string(head.vertices) +
               " vertices that the file announces");
}

/// METIS has each edge in the lists of both of its vertices. line_of: where each vertex has its list.
void check_both_ways(const Lines& lines, const std::vector<Edge>& edges, const std::vector<long>& line_of) {
  std::vector<Edge> sorted = edges;
  std::ranges::sort(sorted);
  for (const auto& [from, to] : edges) {
    if (std::ranges::binary_search(sorted, Edge{to, from})) continue;
    const std::string here = std::to_string(from + 1), there = std::to_string(to + 1);
    lines.fail_at(line_of[from], "vertex " + here + " has the neighbor " + there + ", but vertex " + there +
                                     " lacks the neighbor " + here + "; list each edge at both");
  }
}

EdgeList parse_metis(const std::string& name, std::string_view text) {
  Lines lines(name, text);
  const MetisHead head = metis_head(lines);
  EdgeList graph{.vertices = static_cast<Vertex>(head.vertices), .edges = {}};
  std::vector<long> line_of;
  for (std::uint64_t vertex = 0; vertex < head.vertices; ++vertex) {
    if (!next_vertex(lines))
      lines.fail("the file ends after " + std::to_string(vertex) + " of " + std::to_string(head.vertices) +
                 " vertices");
    line_of.push_back(lines.line_number());
    for (int i = 0; i < head.vertex_numbers; ++i) lines.number<double>("weight", 0, 1e308);
    while (lines.has_word()) {
      const auto other = lines.number<std::uint64_t>("neighbor", 1, head.vertices);
      if (head.edge_weights) lines.number<double>("weight of the edge", 0, 1e308);
      graph.edges.push_back({static_cast<Vertex>(vertex), static_cast<Vertex>(other - 1)});
    }
  }
  check_end(lines, head);
  check_both_ways(lines, graph.edges, line_of);
  if (graph.edges.size() != 2 * head.edges)
    lines.fail("the lists have " + std::to_string(graph.edges.size()) + " neighbors, but " +
               std::to_string(head.edges) + " edges have two each");
  return graph;
}

const GraphFormat& format_of(const std::string& path, const std::string& format) {
  const std::span<const GraphFormat> all = graph_formats();
  const auto found = std::ranges::find_if(all, [&](const GraphFormat& f) {
    return format.empty() ? path.ends_with(f.ending) : f.name == format;
  });
  return *found;
}

}  // namespace

std::span<const GraphFormat> graph_formats() {
  static const std::array<GraphFormat, 3> all = {{{"matrix-market", ".mtx", parse_matrix_market},
                                                  {"metis", ".graph", parse_metis},
                                                  {"edge-list", "", parse_edge_list}}};
  return all;
}

EdgeList read_graph(const std::string& path, const std::string& format) {
  const std::string text = apps::read_whole(path);
  EdgeList graph = format_of(path, format).parse(path, text);
  if (graph.vertices == 0)
    throw apps::input_error(path + ": there are no vertices in it; name a file with at least one edge");
  return graph;
}

}  // namespace lcc
