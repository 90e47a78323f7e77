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

// A strategy asks for so many ranks that it differs from the plainer ones: trials of twins are wasted.
inline constexpr Applies always{has_ranks<1>, "any number of ranks"};
inline constexpr Applies three_ranks{has_ranks<3>, "at least 3 ranks"};
inline constexpr Applies four_ranks{has_ranks<4>, "at least 4 ranks"};
inline constexpr Applies five_ranks{has_ranks<5>, "at least 5 ranks"};
inline constexpr Applies six_ranks{has_ranks<6>, "at least 6 ranks (with fewer, its window never fills)"};
inline constexpr Applies nine_ranks{has_ranks<9>, "at least 9 ranks"};
inline constexpr Applies seventeen_ranks{has_ranks<17>, "at least 17 ranks"};
inline constexpr Applies eighteen_ranks{has_ranks<18>,
                                        "at least 18 ranks (with fewer, its window never fills)"};
inline constexpr Applies shared_nodes{has_shared_nodes,
                                      "several nodes, at least one of them with several ranks"};

}  // namespace wherry::schedule
