// One transpose: the points of one layout travel to the ranks that have them in the next, by one all-to-all.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "pme/decomposition.hpp"
#include "pme/transforms.hpp"
#include "support/mpi/collectives.hpp"
#include "support/mpi/timings.hpp"

namespace pme {

/// The ranks that exchange with this one, as a communicator and by their ranks in the one it was made from.
class Group {
 public:
  Group(const Transpose& transpose, MPI_Comm comm);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  MPI_Comm comm() const { return comm_; }
  const std::vector<int>& members() const { return members_; }

 private:
  MPI_Comm comm_;
  bool owned_;
  std::vector<int> members_;
};

class Exchange {
 public:
  /// rank: this one's, in the communicator that the group was made from. The group must outlive this.
  Exchange(const Group& group, int rank, const Layout& from, const Layout& to);

  /// Collective over the group; what is timed is the all-to-all, without packing.
  void run(std::span<const Complex> from, std::span<Complex> to, const apps::Collectives& with,
           apps::Timings& timings);

  /// Mean bytes over all pairs of different ranks of which one sends to the other. Collective over comm.
  double message_bytes(MPI_Comm comm) const;

 private:
  struct Side {
    Box box;
    std::vector<Box> pieces;  // shared with each member
    std::vector<int> counts, begins;
  };
  static Side side(int rank, const Layout& mine, const Layout& theirs, const std::vector<int>& members);

  const Group& group_;
  int rank_;
  Side out_, in_;
  std::vector<Complex> sending_, arriving_;
};

}  // namespace pme
