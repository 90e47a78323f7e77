#include "interpose/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

namespace wherry::interpose {
namespace {

// A function that every MPI library has and that no profiling tool bothers to define.
constexpr char probe[] = "PMPI_Get_library_version";

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_mpi_library(const char* path) {
  const char* file = file_name(path);
  return starts_with(file, "libmpi.so") || starts_with(file, "libmpich.so") ||
         starts_with(file, "libmpi_abi.so");
}

bool is_fortran_library(const char* path) {
  const char* file = file_name(path);
  return starts_with(file, "libmpi") && !is_mpi_library(path);
}

using Matches = bool (*)(const char* path);

/// The path of the skip-th loaded object that matches. Objects are opened only after the walk: opening one inside it
/// could deadlock with another thread's dlopen.
struct Walk {
  Matches matches;
  int skip;
  char path[4096];
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  if (!walk.matches(info->dlpi_name) || walk.skip-- > 0) return 0;
  std::snprintf(walk.path, sizeof walk.path, "%s", info->dlpi_name);
  return 1;
}

/// A handle of the first loaded object that matches and defines the symbol; null if none does.
void* open_loaded(Matches matches, const char* symbol, int flags) {
  for (int i = 0;; ++i) {
    Walk walk{matches, i, ""};
    if (::dl_iterate_phdr(visit, &walk) == 0) return nullptr;
    void* handle = ::dlopen(walk.path, RTLD_NOLOAD | RTLD_LAZY | flags);
    if (handle != nullptr && ::dlsym(handle, symbol) != nullptr) return handle;
  }
}

void note_path(Library& library) {
  Dl_info info{};
  void* address = find_symbol(library, probe);
  if (address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr)
    std::snprintf(library.path, sizeof library.path, "%s", info.dli_fname);
}

/// Whether the library calls itself by one of the names of MPICH and its descendants, which share an ABI.
bool is_of_mpich_family(const Library& library) {
  using Version = int (*)(char*, int*);
  const auto get_version = reinterpret_cast<Version>(find_symbol(library, probe));
  static char text[16384];  // the largest MPI_MAX_LIBRARY_VERSION_STRING is 8192
  int length = 0;
  if (get_version == nullptr || get_version(text, &length) != 0) return false;
  const auto says = [&](const char* name) { return std::strstr(text, name) != nullptr; };
  return says("MPICH") || says("Intel(R) MPI") || says("MVAPICH");
}

const char* abi_of(const Library& library) {
  if (find_symbol(library, "ompi_mpi_comm_world") != nullptr) return "openmpi";
  if (starts_with(file_name(library.path), "libmpi_abi.so")) return "abi";
  return is_of_mpich_family(library) ? "mpich" : nullptr;
}

}  // namespace

void find_library(Library& library) {
  if (::dlsym(RTLD_NEXT, probe) == nullptr) library.handle = open_loaded(is_mpi_library, probe, RTLD_GLOBAL);
  note_path(library);
  library.abi = abi_of(library);
}

void* find_symbol(const Library& library, const char* name) {
  void* address = ::dlsym(RTLD_NEXT, name);
  return address != nullptr || library.handle == nullptr ? address : ::dlsym(library.handle, name);
}

void* find_fortran_symbol(const char* name) {
  void* address = ::dlsym(RTLD_NEXT, name);
  if (address != nullptr) return address;
  void* handle = open_loaded(is_fortran_library, name, RTLD_LOCAL);
  return handle != nullptr ? ::dlsym(handle, name) : nullptr;
}

}  // namespace wherry::interpose
