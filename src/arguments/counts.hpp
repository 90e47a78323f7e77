// Arrays of counts or displacements as MPI passes them: int, or the large-count types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wherry::run {

/// A read-only view of int or 64-bit numbers; does not own them.
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

}  // namespace wherry::run
