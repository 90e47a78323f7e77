// The schedule of a rank from nothing but the strategy's routes: the oracle for the cheap one.
#pragma once

#include "schedule/blocks/route.hpp"
#include "schedule/schedule.hpp"

namespace wherry::schedule {

/// Asks every block of all P^2 where it goes. Strategy::schedule gives the same in time proportional to the
/// blocks that the rank meets.
Schedule derive(RouteOf route, Pace pace, const topology::Placement& placement, int rank);

}  // namespace wherry::schedule
