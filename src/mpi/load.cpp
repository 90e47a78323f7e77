#include "mpi/api.hpp"

namespace wherry::mpi {

namespace {
template <class F>
bool set(F& entry, void* address) {
  entry = reinterpret_cast<F>(address);
  return address != nullptr;
}
}  // namespace

const char* load(Api& api, void* (*find)(const char* name)) {
#define FUNCTION(name) \
  if (!set(api.name, find("PMPI_" #name))) return "PMPI_" #name;
#include "mpi/functions.inc"
#undef FUNCTION
  return nullptr;
}

}  // namespace wherry::mpi
