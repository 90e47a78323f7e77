// Files of graphs. Directions, weights and values are read over: the clustering coefficient does not use them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lcc/graph.hpp"

namespace lcc {

struct GraphFormat {
  std::string name;    // as on the command line
  std::string ending;  // of files that are of this format unless somebody says otherwise
  /// name: of the file, for errors. Throws apps::input_error, which says line and reason.
  EdgeList (*parse)(const std::string& name, std::string_view text);
};

/// The last one has no ending: it is for all other files.
std::span<const GraphFormat> graph_formats();

/// As format says, or as the file's name ends where it is empty. Throws apps::input_error.
EdgeList read_graph(const std::string& path, const std::string& format);

}  // namespace lcc
