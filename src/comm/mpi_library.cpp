#include "comm/mpi_library.hpp"

namespace wherry::run {

std::string library_name(const mpi::Api& api) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  api.Get_library_version(version, &length);
  const std::string all = version;
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace wherry::run
