// Computing on a simulated machine, whose clock stands still while a rank computes.
#pragma once

#include <mpi.h>

#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

namespace apps {

#ifdef SMPI_H
inline constexpr bool simulated = true;
/// Lets the simulated clock go on. The ranks of a node do not share a processor.
inline void charge(double seconds) {
  if (seconds > 0) sg_actor_sleep_for(seconds);
}
#else
inline constexpr bool simulated = false;
inline void charge(double) {}
#endif

}  // namespace apps
