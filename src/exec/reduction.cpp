#include "exec/reduction.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace wherry::run {

int Reduction::before(std::byte* incoming, std::byte* mine, long long bytes) const {
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

int Reduction::after(std::byte* mine, std::byte* incoming, long long bytes) const {
  if (predefined_) return before(incoming, mine, bytes);
  const int code = before(mine, incoming, bytes);
  if (code == MPI_SUCCESS) std::memcpy(mine, incoming, static_cast<std::size_t>(bytes));
  return code;
}

}  // namespace wherry::run
