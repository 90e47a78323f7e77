// A call of whatever collective, for code that is the same for all.
#pragma once

#include <functional>

#include "arguments/arguments.hpp"
#include "coll/choice/read.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"

namespace wherry::run {

struct AnyCall {
  Collective collective;
  MPI_Comm comm;
  /// Reads the arguments; false: the library should perform the call, or validate it.
  std::function<bool(const Communicator&, Arguments&)> read;
  /// Whether this rank's arguments are legal as far as Wherry looks at them.
  std::function<bool()> is_sound;
};

/// api and call must outlive the result.
template <class Call>
AnyCall any_call(const mpi::Api& api, const Call& call) {
  return {
      collective_of<Call>, call.comm,
      [&](const Communicator& c, Arguments& to) { return read_work(api, call, c, to.blocks, to.segments); },
      [&] { return is_valid(api, call); }};
}

template <Neighborly Call>
AnyCall any_call(const mpi::Api& api, const Call& call) {
  return {collective_of<Call>, call.comm,
          [&](const Communicator& c, Arguments& to) { return read_joined(api, call, c, to); },
          [&] { return is_sound(api, call); }};
}

}  // namespace wherry::run
