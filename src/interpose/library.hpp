// Finds the MPI library of this process, however it was loaded.
#pragma once

namespace wherry::interpose {

struct Library {
  void* handle = nullptr;     // from dlopen; null: its symbols come after ours in the global scope
  const char* abi = nullptr;  // "openmpi", "mpich", "abi"; null: none that Wherry knows
  char path[4096] = "";
};

/// A library that was loaded privately (mpi4py opens libmpi with RTLD_LOCAL) is made global: the backend for Open MPI
/// needs its data symbols.
void find_library(Library& library);

/// The next definition of name after this library's own, or nullptr.
void* find_symbol(const Library& library, const char* name);

/// The same for Fortran names, which live in libraries of their own.
void* find_fortran_symbol(const char* name);

}  // namespace wherry::interpose
