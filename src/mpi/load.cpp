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
  load_newer(api, find);
  return nullptr;
}

void load_newer(Api& api, void* (*find)(const char* name)) {
  set(api.Type_get_envelope_c, find("PMPI_Type_get_envelope_c"));
  set(api.Type_get_contents_c, find("PMPI_Type_get_contents_c"));
  set(api.Progress_register, find("opal_progress_register"));
  set(api.Async_start, find("PMPIX_Async_start"));
  set(api.Request_is_complete, find("PMPIX_Request_is_complete"));
}

std::string library_name(const Api& api) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  api.Get_library_version(version, &length);
  const std::string all = version;
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace wherry::mpi
