#include "cache/adaptation.hpp"

#include <algorithm>

namespace wherry::cache {

std::size_t Adaptation::storage_bytes(const Load& load) {
  const std::uint64_t references = load.references - last_.references;
  const std::uint64_t missed = load.capacity_misses - last_.capacity_misses;
  last_ = load;
  // Half a percent of the references: below that more memory cannot be seen in the time of a program.
  const bool too_small = missed * 200 > references;
  const bool too_large = !too_small && load.live_bytes < load.storage_bytes / 4;
  idle_ = too_large ? idle_ + 1 : 0;
  if (too_small) return load.storage_bytes + std::min(load.storage_bytes, most_step);
  if (idle_ < patience) return load.storage_bytes;
  idle_ = 0;
  return load.storage_bytes - std::min(load.storage_bytes / 2, most_step);
}

}  // namespace wherry::cache
