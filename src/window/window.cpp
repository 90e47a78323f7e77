// What a window tells of itself.
#include "window/window.hpp"

#include "base/floating_point.hpp"

namespace wherry::window {

void Window::invalidate() {
  const Lock::Guard guard(common_.lock);
  common_.sharing.next_phase();
  if (common_.cache.get() != nullptr) common_.cache->invalidate();
}

WindowStatistics Window::statistics() const {
  const Lock::Guard guard(common_.lock);
  WindowStatistics statistics;
  native_gets_.report(statistics);
  plan_.report(statistics);
  completion_.report(statistics);
  statistics.node = common_.sharing.statistics();
  computed([&] {
    for (const Target& target : common_.operations.targets())
      statistics.seconds_saved += target.cost_benefit.saved_s();
  });
  common_.cache.report(statistics);
  return statistics;
}

std::vector<cache::Adjustment> Window::adjustments() const {
  const Lock::Guard guard(common_.lock);
  const cache::Cache* const cache = common_.cache.get();
  if (cache == nullptr) return {};
  return {cache->adjustments().begin(), cache->adjustments().end()};
}

std::vector<cache::Timeline::Point> Window::timeline() const {
  const Lock::Guard guard(common_.lock);
  const cache::Cache* const cache = common_.cache.get();
  if (cache == nullptr) return {};
  return {cache->timeline().begin(), cache->timeline().end()};
}

std::vector<cache::MissRatioCurve::Point> Window::miss_ratio_curve() const {
  const Lock::Guard guard(common_.lock);
  const cache::Cache* const cache = common_.cache.get();
  return cache == nullptr ? std::vector<cache::MissRatioCurve::Point>{} : cache->miss_ratio_curve();
}

}  // namespace wherry::window
