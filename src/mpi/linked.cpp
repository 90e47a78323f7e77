#include <dlfcn.h>

#include "mpi/api.hpp"

namespace wherry::mpi {

namespace {

Api link() {
  Api api = {
#define FUNCTION(name) &::PMPI_##name,
#include "mpi/functions.inc"
#undef FUNCTION
  };
  load_newer(api, [](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  return api;
}

}  // namespace

const Api& linked_api() {
  static const Api api = link();
  return api;
}

}  // namespace wherry::mpi
