// MPI functions as a program calls them, which a preload sees, and as the MPI library has them.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <string_view>

namespace bench {

struct Calls {
  decltype(&MPI_Send) send;
  decltype(&MPI_Bsend) buffered_send;
  decltype(&MPI_Recv) receive;
  decltype(&MPI_Isend) start_send;
  decltype(&MPI_Irecv) start_receive;
  decltype(&MPI_Waitall) wait;
  decltype(&MPI_Send_init) make_send;
  decltype(&MPI_Recv_init) make_receive;
  decltype(&MPI_Startall) start_all;
  decltype(&MPI_Neighbor_alltoallw) neighbor_alltoallw;
  decltype(&MPI_Pack) pack;
  decltype(&MPI_Put) put;
  decltype(&MPI_Win_fence) fence;
};

/// The definition of `name` in the first object of this process that has it and is not Wherry's: PMPI_ names too lead
/// to a preload that exports them.
template <class Function>
Function* in_library(const char* name, Function* fallback) {
  auto* self = static_cast<link_map*>(nullptr);
  dlinfo(dlopen(nullptr, RTLD_LAZY), RTLD_DI_LINKMAP, static_cast<void*>(&self));
  for (const link_map* object = self->l_next; object != nullptr; object = object->l_next) {
    if (std::string_view(object->l_name).find("libwherry") != std::string_view::npos) continue;
    void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = handle == nullptr ? nullptr : dlsym(handle, name);
    Dl_info where{};
    if (found != nullptr && dladdr(found, &where) != 0 && std::string_view(where.dli_fname) == object->l_name)
      return reinterpret_cast<Function*>(found);
  }
  return fallback;
}

inline const Calls of_the_program{
    MPI_Send,    MPI_Bsend,     MPI_Recv,      MPI_Isend,    MPI_Irecv,
    MPI_Waitall, MPI_Send_init, MPI_Recv_init, MPI_Startall, MPI_Neighbor_alltoallw,
    MPI_Pack,    MPI_Put,       MPI_Win_fence};

#define LIBRARY(name) in_library("P" #name, P##name)
inline const Calls of_the_library{LIBRARY(MPI_Send),      LIBRARY(MPI_Bsend),
                                  LIBRARY(MPI_Recv),      LIBRARY(MPI_Isend),
                                  LIBRARY(MPI_Irecv),     LIBRARY(MPI_Waitall),
                                  LIBRARY(MPI_Send_init), LIBRARY(MPI_Recv_init),
                                  LIBRARY(MPI_Startall),  LIBRARY(MPI_Neighbor_alltoallw),
                                  LIBRARY(MPI_Pack),      LIBRARY(MPI_Put),
                                  LIBRARY(MPI_Win_fence)};
#undef LIBRARY

}  // namespace bench
