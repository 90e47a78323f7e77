// Where strategies make sense, and how to say so.
#pragma once

#include <string_view>

#include "plan/shape.hpp"

namespace wherry::plan {

/// A condition on shapes, and how to state it to users.
struct Applies {
  bool (*to)(const Shape&);
  std::string_view needs;
};

template <int ranks>
bool has_ranks(const Shape& shape) {
  return shape.size() >= ranks;
}

inline bool has_shared_nodes(const Shape& shape) { return 1 < shape.nodes() && shape.nodes() < shape.size(); }

}  // namespace wherry::plan
