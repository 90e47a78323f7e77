// The MPI library, watched through the table of its functions: requests are counted, and transfers refused on demand.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::test {

inline long open_requests = 0;
inline int refused_transfer = 0;  // the transfer that is refused, counted from now; 0: none

inline bool refuse() { return refused_transfer > 0 && --refused_transfer == 0; }

inline int isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (refuse()) return MPI_ERR_TYPE;
  const int code = PMPI_Isend(data, count, type, peer, tag, comm, request);
  open_requests += code == MPI_SUCCESS;
  return code;
}

inline int issend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (refuse()) return MPI_ERR_TYPE;
  const int code = PMPI_Issend(data, count, type, peer, tag, comm, request);
  open_requests += code == MPI_SUCCESS;
  return code;
}

inline int ibarrier(MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Ibarrier(comm, request);
  open_requests += code == MPI_SUCCESS;
  return code;
}

inline int irecv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (refuse()) return MPI_ERR_TYPE;
  const int code = PMPI_Irecv(data, count, type, peer, tag, comm, request);
  open_requests += code == MPI_SUCCESS;
  return code;
}

inline int sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int send_tag, void* in,
                    int in_count, MPI_Datatype in_type, int from, int receive_tag, MPI_Comm comm,
                    MPI_Status* status) {
  if (refuse()) {
    refused_transfer = 1;  // one of its halves, should it be tried in another way
    return MPI_ERR_TYPE;
  }
  return PMPI_Sendrecv(out, out_count, out_type, to, send_tag, in, in_count, in_type, from, receive_tag, comm,
                       status);
}

inline int sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int send_tag, int from,
                            int receive_tag, MPI_Comm comm, MPI_Status* status) {
  if (refuse()) return MPI_ERR_TYPE;
  return PMPI_Sendrecv_replace(data, count, type, to, send_tag, from, receive_tag, comm, status);
}

inline int wait(MPI_Request* request, MPI_Status* status) {
  const int code = PMPI_Wait(request, status);
  open_requests -= *request == MPI_REQUEST_NULL;
  return code;
}

inline int test(MPI_Request* request, int* flag, MPI_Status* status) {
  const int code = PMPI_Test(request, flag, status);
  open_requests -= *request == MPI_REQUEST_NULL;
  return code;
}

inline int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const int code = PMPI_Waitany(count, requests, index, status);
  open_requests -= *index != MPI_UNDEFINED && requests[*index] == MPI_REQUEST_NULL;
  return code;
}

inline int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  const int code = PMPI_Testany(count, requests, index, flag, status);
  open_requests -= *index != MPI_UNDEFINED && requests[*index] == MPI_REQUEST_NULL;
  return code;
}

inline mpi::Api watched_library() {
  mpi::Api api = mpi::linked_api();
  api.Isend = isend;
  api.Issend = issend;
  api.Ibarrier = ibarrier;
  api.Irecv = irecv;
  api.Sendrecv = sendrecv;
  api.Sendrecv_replace = sendrecv_replace;
  api.Wait = wait;
  api.Test = test;
  api.Waitany = waitany;
  api.Testany = testany;
  return api;
}

}  // namespace wherry::test
