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

const char* wherry_last_strategy(void) { return LastStrategy::get(); }

const char* wherry_version(void) { return WHERRY_VERSION; }
