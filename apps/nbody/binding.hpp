// Threads that stay on their cores, and so near the memory that they wrote first.
#pragma once

#include <string>

namespace nbody {

/// Whether this was built with hwloc.
bool can_bind();

/// This rank among those of its node.
struct OnNode {
  int rank, ranks;
};

/// Gives each thread a core of its own: among those that the launcher has bound this rank to, or, if it has not, the node's
/// cores in the order of ranks and threads. Returns what came of it, for people; where there are too few cores nothing is bound.
std::string bind_threads(int threads, OnNode place);

}  // namespace nbody
