// Handles and addresses as numbers, and their hashes.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wherry {

/// Handles of MPI are int in MPICH and pointers elsewhere.
template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

inline std::uint64_t hashed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 32);
}

}  // namespace wherry
