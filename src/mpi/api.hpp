// The seam: the MPI library as a table of functions. Only src/mpi/ and src/interpose/ find them.
#pragma once

#include <mpi.h>

#include <string>

namespace wherry::mpi {

/// The profiling entries (PMPI_*) of one MPI library, without their prefix: `api.Isend(...)`.
/// Errors are MPI return codes, as the library gives them.
struct Api {
#define FUNCTION(name) decltype(&::PMPI_##name) name = nullptr;
#include "mpi/functions.inc"
#undef FUNCTION
  // MPI-4, nullptr in older libraries: what alone can read the types that large-count constructors make.
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* large_counts,
                             MPI_Count* types, int* combiner) = nullptr;
  int (*Type_get_contents_c)(MPI_Datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_types, int* integers,
                             MPI_Aint* addresses, MPI_Count* large_counts, MPI_Datatype* types) = nullptr;
  // To be called while the library waits, wherever it waits; nullptr in libraries that have no such thing.
  // Open MPI's opal_progress_register: the callback returns how many things it has completed.
  int (*Progress_register)(int (*callback)()) = nullptr;
  // MPICH's MPIX_Async_start (since 4.3): polls until it gets 1. stream: MPIX_STREAM_NULL.
  int (*Async_start)(int (*poll)(void* thing), void* state, int stream) = nullptr;
  // MPICH's MPIX_Request_is_complete: looks without making progress, which its callback must not (MPICH aborts).
  int (*Request_is_complete)(MPI_Request request) = nullptr;
};

/// Fills the table by name; `find` returns the address of a symbol or nullptr.
/// Returns the first name that was not found, or nullptr if all that MPI-3.1 has are there.
const char* load(Api& api, void* (*find)(const char* name));

/// Fills in what MPI-3.1 does not have; what the library lacks stays nullptr.
void load_newer(Api& api, void* (*find)(const char* name));

/// The first line of MPI_Get_library_version, for the keys of the tuning file.
std::string library_name(const Api& api);

/// The library that this program is linked to.
const Api& linked_api();

}  // namespace wherry::mpi
