#include "window/destinations.hpp"

namespace wherry::window {

void tell_mixed(std::vector<Written>& written) {
  std::ranges::sort(written, {}, &Written::begin);
  for (auto first = written.begin(); first != written.end();) {
    std::uintptr_t end = first->end();
    bool agreed = true;
    auto last = first + 1;
    for (; last != written.end() && last->begin() < end; ++last) {
      end = std::max(end, last->end());
      agreed &= last->agrees(*first);
    }
    if (!agreed)
      for (auto each = first; each != last; ++each)
        if (each->mixed != nullptr) *each->mixed = true;
    first = last;
  }
}

void Destinations::check(std::vector<Written> expected) {
  doubtful_ = false;
  if (lost_) {
    for (const Written& each : expected) *each.mixed = true;
    others_.clear();
    lost_ = false;
    return;
  }
  expected.insert(expected.end(), others_.begin(), others_.end());
  tell_mixed(expected);
}

}  // namespace wherry::window
