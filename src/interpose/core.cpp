// libwherry.so: finds the MPI library that the program uses, and the backend built for its ABI.
//
// This is loaded into every process that LD_PRELOAD reaches, MPI or not: it links to the C library only, does nothing
// until an MPI function is called, and exports nothing but MPI names.
#include "interpose/core.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/own_errno.hpp"
#include "interpose/library.hpp"

namespace wherry::interpose {
namespace {

const char* const symbol_names[] = {
#define SYMBOL(name) #name,
#define FORTRAN(name)
#include "symbols.inc"
#undef SYMBOL
#undef FORTRAN
};
constexpr std::uint32_t symbol_count = sizeof symbol_names / sizeof *symbol_names;

const char* const fortran_names[] = {
#define SYMBOL(name)
#define FORTRAN(name) #name,
#include "symbols.inc"
#undef SYMBOL
#undef FORTRAN
};

}  // namespace
}  // namespace wherry::interpose

extern "C" {
[[gnu::visibility("hidden")]] extern void* wherry_slots[];
[[gnu::visibility("hidden")]] extern void* wherry_fortran_slots[];
[[gnu::visibility("hidden")]] void* wherry_control = nullptr;
[[gnu::visibility("hidden"), gnu::tls_model("initial-exec")]] __thread const void* wherry_fortran_site =
    nullptr;
}

namespace wherry::interpose {
namespace {

Library library;
void* next_definitions[symbol_count];
void* resolvers[symbol_count];  // what the slots held at first
pthread_once_t started = PTHREAD_ONCE_INIT;
[[gnu::tls_model("initial-exec")]] __thread bool starting = false;

std::ptrdiff_t offset_of_fortran_site() {
  return reinterpret_cast<const char*>(&wherry_fortran_site) - thread_pointer();
}

void* find_in_library(const char* name) { return find_symbol(library, name); }

/// In a set-user-id program the environment belongs to someone else: it is not looked at.
bool is_disabled() {
  if (::getauxval(AT_SECURE) != 0) return true;
  const char* value = ::getenv("WHERRY_DISABLE");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

void complain(const char* what, const char* detail) {
  std::fprintf(stderr, "wherry: %s%s%s; this program runs without Wherry\n", what,
               *detail != '\0' ? ": " : "", detail);
}

/// The backend lies beside this library. The environment has no say in it.
bool backend_path(char* path, std::size_t size) {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&wherry_control), &self) == 0 || self.dli_fname == nullptr)
    return false;
  const char* slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash - self.dli_fname) + 1;
  const int length = std::snprintf(path, size, "%.*slibwherry-%s.so", folder, self.dli_fname, library.abi);
  return slash != nullptr && length > 0 && static_cast<std::size_t>(length) < size;
}

BackendEntry open_backend() {
  char path[4096];
  if (!backend_path(path, sizeof path)) return complain("cannot tell where libwherry.so lies", ""), nullptr;
  void* backend = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (backend == nullptr) return complain("cannot open its backend", ::dlerror()), nullptr;
  void* entry = ::dlsym(backend, "wherry_backend");
  if (entry == nullptr) complain("not a backend", path);
  return reinterpret_cast<BackendEntry>(entry);
}

bool start_backend(BackendMode mode) {
  if (library.abi == nullptr) return complain("no backend for this MPI library", library.path), false;
  const BackendEntry enter = open_backend();
  if (enter == nullptr) return false;
  static Core core;
  core = {core_version,
          mode,
          library.abi,
          symbol_count,
          wherry_slots,
          next_definitions,
          &wherry_control,
          find_in_library,
          offset_of_fortran_site()};
  const char* problem = enter(&core);
  if (problem != nullptr) complain("its backend does not work here", problem);
  return problem == nullptr;
}

void pass_through() {
  for (std::uint32_t i = 0; i < symbol_count; ++i)
    if (next_definitions[i] != nullptr) wherry_slots[i] = next_definitions[i];
}

void find_next_definitions() {
  for (std::uint32_t i = 0; i < symbol_count; ++i) {
    resolvers[i] = wherry_slots[i];
    next_definitions[i] = find_symbol(library, symbol_names[i]);
  }
}

void start() {
  starting = true;
  find_library(library);
  find_next_definitions();
  if (is_disabled() || !start_backend(BackendMode::full)) pass_through();
  starting = false;
}

/// Returned for a function that nothing implements. 16 is an error in every ABI (MPI_ERR_OTHER or next to it).
int missing() { return 16; }

/// A slot that nothing filled: a _c function that programs prefer where it is exported, which we do, but that this
/// library lacks. The backend stands in for it, whether or not Wherry is switched off.
void* last_resort(std::uint32_t index) {
  if (library.abi != nullptr && start_backend(BackendMode::pass_through) &&
      wherry_slots[index] != resolvers[index])
    return wherry_slots[index];
  std::fprintf(stderr, "wherry: the MPI library has no %s\n", symbol_names[index]);
  return reinterpret_cast<void*>(&missing);
}

}  // namespace
}  // namespace wherry::interpose

using namespace wherry::interpose;

/// The address that a call of the symbol goes to. Called once per symbol at most by each thread.
extern "C" [[gnu::visibility("hidden")]] void* wherry_resolve(std::uint64_t index) {
  if (starting)
    return find_in_library(symbol_names[index]);  // the library called itself while we looked for it
  const wherry::OwnErrno own;
  pthread_once(&started, start);
  void* target = wherry_slots[index];
  return target != resolvers[index] ? target : last_resort(static_cast<std::uint32_t>(index));
}

extern "C" [[gnu::visibility("hidden")]] void* wherry_resolve_fortran(std::uint64_t index) {
  void* target = find_fortran_symbol(fortran_names[index]);
  if (target == nullptr) {
    std::fprintf(stderr, "wherry: no MPI library in this program has %s\n", fortran_names[index]);
    std::abort();
  }
  return wherry_fortran_slots[index] = target;
}
