#include <tuple>
#include <type_traits>

#include "interpose/backend.hpp"
#include "interpose/wait_policy.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {

namespace {

const mpi::Api* library_of_this_process = nullptr;

template <auto blocking, auto nonblocking,
          class Function = std::remove_reference_t<decltype(mpi::Api{}.*blocking)>>
struct Patient;

/// The communicator is a collective's last argument.
template <auto blocking, auto nonblocking, class... Arguments>
struct Patient<blocking, nonblocking, int (*)(Arguments...)> {
  static int call(Arguments... arguments) {
    const mpi::Api& library = *library_of_this_process;
    const MPI_Comm comm = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
    if (!backend().wait_policy.polls_together(comm)) return (library.*blocking)(arguments...);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = (library.*nonblocking)(arguments..., &request);
    if (code != MPI_SUCCESS) return code;
    return waiting::poll([&](int* flag) { return library.Test(&request, flag, MPI_STATUS_IGNORE); });
  }
};

}  // namespace

mpi::Api patient_api(const mpi::Api& library) {
  library_of_this_process = &library;
  mpi::Api api = library;
  api.Allgather = &Patient<&mpi::Api::Allgather, &mpi::Api::Iallgather>::call;
  api.Allreduce = &Patient<&mpi::Api::Allreduce, &mpi::Api::Iallreduce>::call;
  api.Alltoall = &Patient<&mpi::Api::Alltoall, &mpi::Api::Ialltoall>::call;
  api.Bcast = &Patient<&mpi::Api::Bcast, &mpi::Api::Ibcast>::call;
  return api;
}

}  // namespace wherry::interpose
