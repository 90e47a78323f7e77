// The request that the program holds for a collective that Wherry performs.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

/// What a generalized request (MPI 4.1, 13.2) says when it is over; belongs to the request, which frees it.
struct OperationRequest {
  const mpi::Api& api;
  int code = MPI_SUCCESS;

  /// A new request, or nullptr with an MPI code in *code.
  static OperationRequest* begin(const mpi::Api& api, MPI_Request* request, int* code);
};

}  // namespace wherry::run
