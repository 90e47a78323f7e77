// MPICH waits in MPI_Win_start, or in MPI_Win_complete, until the targets have called MPI_Win_post, in a loop that
// never gives the core away. So where ranks share cores, MPI_Win_post also sends an empty message to each origin, and
// MPI_Win_start waits for it by polling: then the library finds that all have posted.
//
// One communicator serves all windows. The message that comes may be of another window: a rank has posted to an origin
// at least as often as that has started with it, so none waits for a message that is not sent before the library would
// go on. The wait is bounded all the same, for programs whose calls do not match; without a message the library waits.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <vector>

#include "interpose/handles.hpp"
#include "mpi/api.hpp"

namespace wherry::interpose {

class PostNotices {
 public:
  PostNotices(const mpi::Api& api, const Queries& queries) : api_(api), queries_(queries) {}

  /// Collective over MPI_COMM_WORLD, whose ranks all call this or none.
  void begin();
  void end();
  bool are_on() const { return comm_ != MPI_COMM_NULL; }

  /// This rank has posted to these.
  void tell(MPI_Group origins) const;
  /// Waits until these have told, or for a while. One thread at a time.
  void await(MPI_Group targets);

 private:
  std::vector<int> in_world(MPI_Group group) const;
  bool has_come(int target, std::uint64_t until_ns) const;
  bool receive(int target) const;

  const mpi::Api& api_;
  const Queries& queries_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::map<int, int> owed_;  // notices of each target that have not come, though a start went on
  int late_ = 0;             // starts in which one did not come in time
};

}  // namespace wherry::interpose
