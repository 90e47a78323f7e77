// Threads that stay on their cores, and so near the memory that they wrote first.
#pragma once

#include <string>

namespace nbody {

/// Whether this was built with hwloc.
bool can_bind();

/// The processors that this process may use: the same text in processes of a node that may use the same.
std::string allowed_processors();

/// This rank among those of its node that may use the same processors, as a launcher gives them: one's own to each
/// rank, a part of the node to several, or the node to all.
struct Sharing {
  int rank, ranks;
};

/// Gives each thread of these ranks a core of its own among those that they may use, in the order of ranks and threads.
/// threads: as many on all of them. Returns what came of it, for people; where there are too few cores nothing is
/// bound.
std::string bind_threads(int threads, Sharing sharing);

}  // namespace nbody
