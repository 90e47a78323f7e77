// By the native collectives on the program's communicator: wherever Wherry has none of its own.
#pragma once

#include <mpi.h>

#include <span>

#include "mpi/api.hpp"
#include "sparse/inbox.hpp"

namespace wherry::run {

/// How many ranks there are to send to: of an intercommunicator, those of the other group.
int destinations(const mpi::Api& api, MPI_Comm comm, int* count);

/// MPI_Alltoall of lengths, then MPI_Alltoallv. comm: any communicator; sends: all sound, may be to this rank.
/// At most 32 GiB from one rank and to one rank, else MPI_ERR_COUNT there. Collective over comm; an error of the library has been
/// passed to its error handler, *handled is true then.
int exchange_natively(const mpi::Api& api, MPI_Comm comm, std::span<const SparseMessage> sends, Inbox& inbox,
                      bool* handled);

}  // namespace wherry::run
