#include "cache/timeline.hpp"

namespace wherry::cache {

/// When there are too many, every second one goes, and new ones come half as often.
void Timeline::keep(const Point& now) {
  if (points_.size() == most_points) {
    for (std::size_t i = 0; i < most_points / 2; ++i) points_[i] = points_[2 * i + 1];
    points_.resize(most_points / 2);
    step_ = points_.back().lookups / points_.size();
  }
  points_.push_back(now);
  next_ = now.lookups + step_;
}

}  // namespace wherry::cache
