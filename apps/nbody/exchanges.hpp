// The collectives that the schemes exchange by: plain MPI's and Wherry's, which have the same signatures.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

namespace nbody {

/// A sum over all ranks, of numbers at a fixed place and into the same place, that goes on while the program computes.
class StartedSum {
 public:
  virtual ~StartedSum() = default;
  virtual void start() = 0;
  virtual bool poll() = 0;  // progresses it; true: it is over
  virtual void wait() = 0;
};

struct Exchanges {
  const char* (*strategy)();  // what ran in the last blocking call
  decltype(MPI_Allreduce)* allreduce;
  decltype(MPI_Allgather)* allgather;
  decltype(MPI_Bcast)* bcast;
  decltype(MPI_Reduce_scatter_block)* reduce_scatter_block;
  /// Collective. The numbers stay the caller's.
  std::unique_ptr<StartedSum> (*started_sum)(std::span<double> numbers, MPI_Comm comm);
};

extern const Exchanges plain_mpi, wherrys;

}  // namespace nbody
