#include "run/machine.hpp"

#include <unistd.h>

#include <fstream>

namespace wherry::run {

std::string machine_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    model = line.substr(colon + 2);
    break;
  }
  return model + " x " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string library_name(const mpi::Api& api) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  api.Get_library_version(version, &length);
  const std::string all = version;
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace wherry::run
