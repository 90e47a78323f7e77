// A call to perform, whether it is waited for or resumed later.
#pragma once

#include "coll/state/communicator.hpp"

namespace wherry::run {

/// Where a call runs and what belongs to it alone. What it refers to must outlive the work.
struct Task {
  const Communicator& c;
  Lane lane;
  Requests& requests;
};

/// Of a blocking call. There is one at a time on a communicator, and its messages all have this tag.
inline Task blocking_task(Communicator& c) {
  constexpr int tag = 1;
  return {c, {&c.channel(), tag, Patience::wait}, c.requests};
}

}  // namespace wherry::run
