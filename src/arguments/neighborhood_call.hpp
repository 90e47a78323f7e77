// One neighborhood collective as the program asks for it, its blocks numbered by neighbors; and its blocks by rank.
#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "arguments/blocks.hpp"
#include "arguments/calls.hpp"
#include "arguments/neighbors.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// What this rank sends to each target and receives from each source, by their numbers. Of nobody, the share means
/// nothing.
struct NeighborCall {
  std::vector<Share> send;
  std::vector<Share> receive;
  datatype::TypeMemory types;

  long long bytes_sent(const Topology& topology) const;
};

/// Fills `read`, reusing its memory. false: arguments that only the library should validate.
bool read_neighbors(const mpi::Api& api, const NeighborAlltoall& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAlltoallv& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAlltoallw& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAllgather& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAllgatherv& call, const Topology& topology,
                    NeighborCall& read);

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
