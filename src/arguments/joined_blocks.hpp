// Blocks by rank, of a collective whose blocks are numbered by neighbors.
#pragma once

#include <vector>

#include "arguments/blocks.hpp"
#include "arguments/neighborhood_call.hpp"
#include "arguments/neighbors.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// What goes to one rank, or comes from it, as one block: the schedules know no other. Blocks of a repeated neighbor
/// are joined by a datatype, so that nothing is copied.
class Joined {
 public:
  /// blocks: of c.size() ranks, or empty; reused from call to call. Both must live as long as this does.
  Joined(const mpi::Api& api, const NeighborCall& call, const Ports& ports, int size, int rank,
         Blocks& blocks);
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  /// Frees the types: no message may be under way.
  ~Joined();

  /// MPI_SUCCESS, or why a type could not be made.
  int code() const { return code_; }

 private:
  void fill(const std::vector<Share>& shares, const std::vector<schedule::Peer>& peers,
            std::vector<Share>& to);
  Share join(const std::vector<Share>& shares, const std::vector<int>& numbers);

  const mpi::Api& api_;
  std::vector<MPI_Datatype> types_;
  int code_ = MPI_SUCCESS;
};

}  // namespace wherry::run
