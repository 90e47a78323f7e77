// The arguments of the collectives that Wherry can replace, as MPI names and orders them, counts widened.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/collective.hpp"

namespace wherry::run {

/// An array of counts or displacements as MPI passes them: a read-only view of int or 64-bit numbers; does not own
/// them.
class Numbers {
 public:
  Numbers(const int* values) : narrow_(values) {}
  Numbers(const std::int64_t* values) : wide_(values) {}
  Numbers(const long long* values) : wide_(reinterpret_cast<const std::int64_t*>(values)) {}

  std::int64_t operator[](int i) const { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }
  bool empty() const { return narrow_ == nullptr && wide_ == nullptr; }

 private:
  const int* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
};

// struct Alltoall { ... }, and so on: one for each, made from tools/mpi_functions.toml.
#include "calls.inc"

/// Which collective such arguments belong to.
template <class Call>
inline constexpr Collective collective_of = Call::collective;

}  // namespace wherry::run
