// Where strategies make sense, and how to say so.
#pragma once

#include <string_view>

#include "topology/placement.hpp"

namespace wherry::schedule {

/// A condition on placements, and how to state it to users.
struct Applies {
  bool (*to)(const topology::Placement&);
  std::string_view needs;
};

template <int ranks>
bool has_ranks(const topology::Placement& placement) {
  return placement.size() >= ranks;
}

inline bool has_shared_nodes(const topology::Placement& placement) {
  return 1 < placement.nodes() && placement.nodes() < placement.size();
}

}  // namespace wherry::schedule
