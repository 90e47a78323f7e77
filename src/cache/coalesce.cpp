#include "cache/coalesce.hpp"

#include <algorithm>
#include <tuple>

namespace wherry::cache {

std::vector<Joined> coalesce(std::vector<Wanted>& wanted) {
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.range.target, a.range.displacement, a.number) <
           std::tie(b.range.target, b.range.displacement, b.number);
  });
  std::vector<Joined> joined;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Range& next = wanted[i].range;
    if (joined.empty() || joined.back().range.target != next.target ||
        joined.back().range.end() < next.displacement) {
      joined.push_back({next, i, 1});
      continue;
    }
    Joined& last = joined.back();
    last.range.bytes = std::max(last.range.end(), next.end()) - last.range.displacement;
    ++last.count;
  }
  return joined;
}

}  // namespace wherry::cache
