// Vectors and spans by the `int`s that ranks, phases and segments are.
#pragma once

#include <cstddef>

namespace wherry::schedule {

template <class List>
auto& at(List& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

}  // namespace wherry::schedule
