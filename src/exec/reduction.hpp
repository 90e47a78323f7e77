// The operation of a reduction on dense data.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

#include "mpi/api.hpp"

namespace wherry::run {

/// op on elements of `type`, which lie `element_bytes` apart without gaps. commutes: a op b and b op a have the
/// same bits, but for those of NaNs.
class Reduction {
 public:
  Reduction(const mpi::Api& api, MPI_Op op, MPI_Datatype type, long long element_bytes, bool commutes)
      : api_(&api), op_(op), type_(type), element_bytes_(element_bytes), commutes_(commutes) {}

  /// mine = incoming op mine. Returns an MPI code.
  int before(std::byte* incoming, std::byte* mine, long long bytes) const;
  /// mine = mine op incoming; incoming is used up.
  int after(std::byte* mine, std::byte* incoming, long long bytes) const;

 private:
  const mpi::Api* api_;
  MPI_Op op_;
  MPI_Datatype type_;
  long long element_bytes_;
  bool commutes_;
};

inline int Reduction::before(std::byte* incoming, std::byte* mine, long long bytes) const {
  for (long long left = bytes / element_bytes_; left > 0;) {
    const long long count = std::min<long long>(left, INT_MAX);
    if (const int code = api_->Reduce_local(incoming, mine, static_cast<int>(count), type_, op_);
        code != MPI_SUCCESS)
      return code;
    incoming += count * element_bytes_;
    mine += count * element_bytes_;
    left -= count;
  }
  return MPI_SUCCESS;
}

inline int Reduction::after(std::byte* mine, std::byte* incoming, long long bytes) const {
  if (commutes_) return before(incoming, mine, bytes);
  const int code = before(mine, incoming, bytes);
  if (code == MPI_SUCCESS) std::memcpy(mine, incoming, static_cast<std::size_t>(bytes));
  return code;
}

}  // namespace wherry::run
