// Collectives on segments of ints in one form: through a runtime, or by the library.
#pragma once

#include <mpi.h>

#include "host/runtime.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::test {

/// What a rank says of its part.
struct Part {
  const int* send;
  int* receive;
  int count;  // of a block, or of the whole buffer
  int root;
  MPI_Comm comm;
};

/// Who performs it. native: what the runtime falls back on.
struct Performer {
  run::Runtime* runtime = nullptr;  // nullptr: the library
  run::Native native;
};

struct SegmentCollective {
  schedule::Operation operation;
  int (*perform)(const Performer& by, const Part& p);
  /// What a rank gives and gets, in counts: 1, or one for each rank.
  bool gives_all, gets_all;
};

/// All of them, in the order of schedule::Operation.
inline const SegmentCollective segment_collectives[] = {
    {schedule::Operation::allgather,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr)
         return PMPI_Allgather(p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.comm);
       return by.runtime->allgather({p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.comm},
                                    by.native);
     },
     false, true},
    {schedule::Operation::bcast,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr) return PMPI_Bcast(p.receive, p.count, MPI_INT, p.root, p.comm);
       return by.runtime->bcast({p.receive, p.count, MPI_INT, p.root, p.comm}, by.native);
     },
     false, false},
    {schedule::Operation::gather,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr)
         return PMPI_Gather(p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.root, p.comm);
       return by.runtime->gather({p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.root, p.comm},
                                 by.native);
     },
     false, true},
    {schedule::Operation::scatter,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr)
         return PMPI_Scatter(p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.root, p.comm);
       return by.runtime->scatter({p.send, p.count, MPI_INT, p.receive, p.count, MPI_INT, p.root, p.comm},
                                  by.native);
     },
     true, false},
    {schedule::Operation::reduce,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr)
         return PMPI_Reduce(p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.root, p.comm);
       return by.runtime->reduce({p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.root, p.comm}, by.native);
     },
     false, false},
    {schedule::Operation::allreduce,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr) return PMPI_Allreduce(p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.comm);
       return by.runtime->allreduce({p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.comm}, by.native);
     },
     false, false},
    {schedule::Operation::reduce_scatter,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr)
         return PMPI_Reduce_scatter_block(p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.comm);
       return by.runtime->reduce_scatter_block({p.send, p.receive, p.count, MPI_INT, MPI_SUM, p.comm},
                                               by.native);
     },
     true, false},
    {schedule::Operation::barrier,
     [](const Performer& by, const Part& p) {
       if (by.runtime == nullptr) return PMPI_Barrier(p.comm);
       return by.runtime->barrier({p.comm}, by.native);
     },
     false, false},
};

}  // namespace wherry::test
