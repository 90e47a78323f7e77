// Memory that the ranks of a node share, with a cache in it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cache/node_cache.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

/// Its end is collective over the ranks that share it.
class NodeMemory {
 public:
  /// For the ranks of comm that share a node with this one. nullptr, on all of these: it is alone there, or there is no
  /// such memory, and `problem` says why. Collective over comm, with equal bytes.
  static std::unique_ptr<NodeMemory> make(const mpi::Api& api, MPI_Comm comm, std::size_t bytes,
                                          std::string& problem);

  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  ~NodeMemory();

  cache::NodeCache& cache() { return *cache_; }

 private:
  explicit NodeMemory(const mpi::Api& api) : api_(api) {}
  std::string allocate(MPI_Comm node, std::size_t bytes);

  const mpi::Api& api_;
  MPI_Win win_ = MPI_WIN_NULL;  // of the library
  std::optional<cache::NodeCache> cache_;
};

}  // namespace wherry::window
