// The seam: the MPI library as a table of functions. Only src/mpi/ and src/interpose/ find them.
#pragma once

#include <mpi.h>

namespace wherry::mpi {

/// The profiling entries (PMPI_*) of one MPI library, without their prefix: `api.Isend(...)`.
/// Errors are MPI return codes, as the library gives them.
struct Api {
#define FUNCTION(name) decltype(&::PMPI_##name) name = nullptr;
#include "mpi/functions.inc"
#undef FUNCTION
};

/// Fills the table by name; `find` returns the address of a symbol or nullptr.
/// Returns the first name that was not found, or nullptr if the table is complete.
const char* load(Api& api, void* (*find)(const char* name));

/// The library that this program is linked to.
const Api& linked_api();

}  // namespace wherry::mpi
