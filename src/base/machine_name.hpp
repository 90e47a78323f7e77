// The name of this machine in the keys of the tuning file.
#pragma once

#include <string>

namespace wherry {

/// The processor's model and how many there are: equal for equal nodes of a cluster.
std::string machine_name();

}  // namespace wherry
