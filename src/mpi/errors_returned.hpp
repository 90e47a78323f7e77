// Errors of Wherry's own calls on a communicator of the program stay with Wherry.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

/// While it lives, errors on comm are returned to the caller; then the program's error handler is back. The default
/// handler would end the program for what Wherry can do without.
class ErrorsReturned {
 public:
  ErrorsReturned(MPI_Comm comm, const mpi::Api& api) : comm_(comm), api_(api) {
    if (api_.Comm_get_errhandler(comm_, &program_) != MPI_SUCCESS) program_ = MPI_ERRHANDLER_NULL;
    if (program_ != MPI_ERRHANDLER_NULL) api_.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  ~ErrorsReturned() {
    if (program_ == MPI_ERRHANDLER_NULL) return;
    api_.Comm_set_errhandler(comm_, program_);
    api_.Errhandler_free(&program_);  // what Comm_get_errhandler gives counts as one more (MPI 4.1, 9.3)
  }

 private:
  MPI_Comm comm_;
  const mpi::Api& api_;
  MPI_Errhandler program_ = MPI_ERRHANDLER_NULL;
};

/// The communicator's error handler, to be compared with; MPI_ERRHANDLER_NULL: it is not known.
inline MPI_Errhandler handler_of(const mpi::Api& api, MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (api.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return MPI_ERRHANDLER_NULL;
  const MPI_Errhandler found = handler;
  api.Errhandler_free(&handler);  // what Comm_get_errhandler gives counts as one more (MPI 4.1, 9.3)
  return found;
}

}  // namespace wherry::run
