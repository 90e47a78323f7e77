// What a sparse exchange carries.
#pragma once

#include <cstddef>

namespace wherry::run {

/// Bytes for or from one rank. Not owned.
struct SparseMessage {
  int peer = 0;  // its destination where it is sent, its source where it has arrived
  const void* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace wherry::run
