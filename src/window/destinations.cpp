#include "window/destinations.hpp"

namespace wherry::window {

bool tell_mixed(std::vector<Written>& written) {
  bool told = false;
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
        if (each->mixed != nullptr) told = *each->mixed = true;
    first = last;
  }
  return told;
}

void Destinations::check(std::vector<Written> under_way) {
  for (const Copy& copy : copies_) under_way.push_back(copy.written);
  begin_ = UINTPTR_MAX;
  end_ = 0;
  for (const Written& each : under_way) include(each.to, each.range.bytes);
  most_noted_ = std::max(least_noted, 2 * under_way.size());
  under_way.insert(under_way.end(), written_.begin(), written_.end());
  mixed_ |= tell_mixed(under_way);
  written_.clear();
  doubtful_ = false;
}

}  // namespace wherry::window
