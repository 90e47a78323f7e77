// The collectives that are compared: plain MPI's and Wherry's, which have the same signatures.
#pragma once

#include <mpi.h>

#include "wherry/wherry.h"

namespace apps {

struct Collectives {
  const char* (*strategy)();  // what ran in the last call
  int (*alltoall)(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm);
  int (*alltoallv)(const void* send, const int send_counts[], const int send_displacements[],
                   MPI_Datatype send_type, void* receive, const int receive_counts[],
                   const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm);
};

inline constexpr Collectives plain_mpi = {[] { return "native"; }, MPI_Alltoall, MPI_Alltoallv};
inline constexpr Collectives wherrys = {wherry_last_strategy, wherry_alltoall, wherry_alltoallv};

}  // namespace apps
