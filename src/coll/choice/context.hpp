// The runtime that choices are made in: its settings, library and candidates.
#pragma once

#include "base/settings.hpp"
#include "coll/choice/choosing.hpp"
#include "coll/choice/instructions.hpp"
#include "coll/choice/observer.hpp"
#include "comm/communicator_registry.hpp"
#include "comm/staging.hpp"
#include "datatype/watched_types.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// What is referred to must outlive those who have it.
struct RuntimeContext {
  const Settings& settings;
  const mpi::Api& api;
  Observer* observer;  // or nullptr
  double (*now)();     // seconds
  const Instructions& instructions;
  CommunicatorRegistry& registry;
  Choosing& choosing;
  Staging& staging;
  datatype::WatchedTypes& types;

  /// A call was native. Without a reason there is nothing to tell.
  void fall_back(Collective collective, std::string_view reason) const {
    if (observer != nullptr && !reason.empty()) observer->fell_back(collective, reason);
  }
};

}  // namespace wherry::run
