// Where the data of a call go.
#pragma once

#include <cstdint>

#include "profile/recorder.hpp"

namespace wherry::interpose {

struct Destination {
  std::uint32_t comm = profile::none;  // index in the record
  int peer = -1;                       // rank in MPI_COMM_WORLD; -1: none
  profile::PeerClass kind = profile::PeerClass::point_to_point;
};

}  // namespace wherry::interpose
