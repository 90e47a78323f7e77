// The name of this machine in the keys of the tuning file.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace wherry {

/// The processor's model and how many there are: equal for equal nodes of a cluster.
inline std::string machine_name() {
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

}  // namespace wherry
