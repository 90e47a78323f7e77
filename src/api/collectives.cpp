// The C API. Each function names the runtime's collective and the library's own; the rest is the same for all.
#pragma GCC visibility push(default)
#include "wherry/wherry.h"
#pragma GCC visibility pop

#include "api/process.hpp"

namespace wherry::api {
namespace {

/// Runs a collective with its arguments in MPI's order, which is also that of the runtime's struct.
template <class Call, class... Values>
int perform(int (run::Runtime::*operation)(const Call&, const run::Native&), int (*native)(Values...),
            std::type_identity_t<Values>... values) {
  LastStrategy::set("native");
  const auto run_native = [&] { return native(values...); };
  run::Runtime* const wherry = runtime();
  return wherry == nullptr ? run_native() : (wherry->*operation)(Call{values...}, run_native);
}

}  // namespace
}  // namespace wherry::api

using namespace wherry::api;
using wherry::run::Runtime;

int wherry_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  return perform(&Runtime::alltoall, library().Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                 recvtype, comm);
}

int wherry_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                     void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  return perform(&Runtime::alltoallv, library().Alltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                 recvcounts, rdispls, recvtype, comm);
}

int wherry_alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                     const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return perform(&Runtime::alltoallw, library().Alltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                 recvcounts, rdispls, recvtypes, comm);
}

int wherry_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm) {
  return perform(&Runtime::allgather, library().Allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                 recvtype, comm);
}

int wherry_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return perform(&Runtime::bcast, library().Bcast, buffer, count, datatype, root, comm);
}

int wherry_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return perform(&Runtime::gather, library().Gather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                 recvtype, root, comm);
}

int wherry_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return perform(&Runtime::scatter, library().Scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                 recvtype, root, comm);
}

int wherry_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm) {
  return perform(&Runtime::reduce, library().Reduce, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int wherry_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm) {
  return perform(&Runtime::allreduce, library().Allreduce, sendbuf, recvbuf, count, datatype, op, comm);
}

int wherry_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm) {
  return perform(&Runtime::reduce_scatter_block, library().Reduce_scatter_block, sendbuf, recvbuf, recvcount,
                 datatype, op, comm);
}

int wherry_barrier(MPI_Comm comm) { return perform(&Runtime::barrier, library().Barrier, comm); }

int wherry_neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return perform(&Runtime::neighbor_alltoall, library().Neighbor_alltoall, sendbuf, sendcount, sendtype,
                 recvbuf, recvcount, recvtype, comm);
}

int wherry_neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return perform(&Runtime::neighbor_alltoallv, library().Neighbor_alltoallv, sendbuf, sendcounts, sdispls,
                 sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int wherry_neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return perform(&Runtime::neighbor_alltoallw, library().Neighbor_alltoallw, sendbuf, sendcounts, sdispls,
                 sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int wherry_neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return perform(&Runtime::neighbor_allgather, library().Neighbor_allgather, sendbuf, sendcount, sendtype,
                 recvbuf, recvcount, recvtype, comm);
}

int wherry_neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm) {
  return perform(&Runtime::neighbor_allgatherv, library().Neighbor_allgatherv, sendbuf, sendcount, sendtype,
                 recvbuf, recvcounts, displs, recvtype, comm);
}

const char* wherry_last_strategy(void) { return LastStrategy::get(); }

const char* wherry_version(void) { return WHERRY_VERSION; }
