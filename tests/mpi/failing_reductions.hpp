// The MPI library with reductions that fail on demand, on all ranks alike.
#pragma once

#include <mpi.h>

#include "comm/channel.hpp"
#include "edge_bench.hpp"
#include "mpi/api.hpp"

namespace wherry::test {

/// What fails. MPI's functions carry no state: there is one for the program.
struct Reductions {
  bool reduces = true, starts = true, completes = true;
  long started = 0;  // nonblocking ones that were asked for
};
inline Reductions reductions;

/// What a library may leave in a request that it did not start: here one that is complete at once.
inline MPI_Request leftover = MPI_REQUEST_NULL;

inline int allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  const int code = PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
  return reductions.reduces ? code : MPI_ERR_OTHER;
}

inline int iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, MPI_Request* request) {
  ++reductions.started;
  if (reductions.starts) return PMPI_Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
  *request = leftover;
  return MPI_ERR_OTHER;
}

inline int wait(MPI_Request* request, MPI_Status* status) {
  const int code = PMPI_Wait(request, status);
  return reductions.completes ? code : MPI_ERR_OTHER;
}

inline mpi::Api failing_reductions() {
  mpi::Api api = mpi::linked_api();
  api.Allreduce = allreduce;
  api.Iallreduce = iallreduce;
  api.Wait = wait;
  return api;
}

/// Whether a number is the same on all ranks.
inline bool agreed(long value, MPI_Comm comm) {
  long both[2] = {value, -value}, least[2] = {};
  PMPI_Allreduce(both, least, 2, MPI_LONG, MPI_MIN, comm);
  return least[0] == -least[1];
}

/// Runs a body on a communicator of its own for each row of a table of what fails; the rows have a name and `with`.
/// Returns what failed on this rank.
template <class Troubles, class Body>
long failures_in(const Troubles& troubles, const Body& body) {
  const Settings settings = untuned();
  const mpi::Api api = failing_reductions();
  run::Runtime runtime(settings, api, nullptr);
  const Witness witness;
  long failures = 0;
  for (const auto& trouble : troubles) {
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &leftover);
    reductions = trouble.with;
    Bench b{runtime, witness, learner, trouble.name};
    body(b, trouble, run::Channel(api, comm, run::Waiting::library));
    failures += b.failures;
    PMPI_Wait(&leftover, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }
  return failures;
}

}  // namespace wherry::test
