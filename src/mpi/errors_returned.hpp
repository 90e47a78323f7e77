// Errors of Wherry's own calls on a communicator of the program stay with Wherry.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

/// The communicator's error handler, to be compared with; MPI_ERRHANDLER_NULL: it is not known.
inline MPI_Errhandler handler_of(const mpi::Api& api, MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (api.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return MPI_ERRHANDLER_NULL;
  const MPI_Errhandler found = handler;
  api.Errhandler_free(&handler);  // what Comm_get_errhandler gives counts as one more (MPI 4.1, 9.3)
  return found;
}

/// Whether a contiguous receive that has too little room for its message writes only into what it has. Open MPI (4.1 and
/// 5.0) writes all of a message of more than 4 KiB, before it says MPI_ERR_TRUNCATE; into elements of derived types it
/// does not. That matters where the program goes on after an error.
inline bool receives_keep_to_room([[maybe_unused]] const mpi::Api& api, [[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  return handler_of(api, comm) == MPI_ERRORS_ARE_FATAL;
#else
  return true;
#endif
}

/// While it lives, errors on comm are returned to the caller; then the program's error handler is back. The default
/// handler would end the program for what Wherry can do without.
///
/// Several threads may hold one at the same time: the first puts the program's handler back, before which the last may
/// not have ended, and whoever finds another in the end than the one it set leaves that there.
class ErrorsReturned {
 public:
  ErrorsReturned(MPI_Comm comm, const mpi::Api& api) : comm_(comm), api_(api) {
    if (api_.Comm_get_errhandler(comm_, &program_) != MPI_SUCCESS) program_ = MPI_ERRHANDLER_NULL;
    if (is_other()) api_.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  ~ErrorsReturned() {
    if (is_other() && handler_of(api_, comm_) == MPI_ERRORS_RETURN) api_.Comm_set_errhandler(comm_, program_);
    // What Comm_get_errhandler gives counts as one more (MPI 4.1, 9.3).
    if (program_ != MPI_ERRHANDLER_NULL) api_.Errhandler_free(&program_);
  }

 private:
  bool is_other() const { return program_ != MPI_ERRHANDLER_NULL && program_ != MPI_ERRORS_RETURN; }

  MPI_Comm comm_;
  const mpi::Api& api_;
  MPI_Errhandler program_ = MPI_ERRHANDLER_NULL;
};

}  // namespace wherry::run
