#include "schedule/blocks/slots.hpp"

#include <algorithm>

namespace wherry::schedule {

int Slots::take(int count) {
  for (auto run = free_.begin(); run != free_.end(); ++run) {
    if (run->count < count) continue;
    const int first = run->first;
    run->first += count;
    run->count -= count;
    if (run->count == 0) free_.erase(run);
    return first;
  }
  // A free run at the end of the arena is the beginning of the new one.
  int first = end_;
  if (!free_.empty() && free_.back().first + free_.back().count == end_) {
    first = free_.back().first;
    free_.pop_back();
  }
  end_ = first + count;
  return first;
}

void Slots::give_back(std::vector<int>& slots) {
  std::sort(slots.begin(), slots.end());
  std::vector<Run> merged;
  const auto append = [&](Run run) {
    if (!merged.empty() && merged.back().first + merged.back().count == run.first)
      merged.back().count += run.count;
    else merged.push_back(run);
  };
  auto old = free_.begin();
  for (const int slot : slots) {
    while (old != free_.end() && old->first < slot) append(*old++);
    append({slot, 1});
  }
  while (old != free_.end()) append(*old++);
  free_.swap(merged);
}

}  // namespace wherry::schedule
