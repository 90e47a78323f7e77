// How hits and memory have gone over the life of a cache, in a few points however long that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wherry::cache {

class Timeline {
 public:
  /// What has been so far.
  struct Point {
    std::uint64_t lookups = 0, hits = 0;
    std::size_t storage_bytes = 0;  // now
    friend bool operator==(const Point&, const Point&) = default;
  };
  static constexpr std::size_t most_points = 64;

  Timeline() { points_.reserve(most_points); }

  /// Keeps a point unless it comes too soon after the last one.
  void note(const Point& now) {
    if (now.lookups >= next_) keep(now);
  }
  /// Oldest first, about equally far apart in lookups.
  std::span<const Point> points() const { return points_; }

 private:
  void keep(const Point& now);

  std::vector<Point> points_;
  std::uint64_t step_ = 1;  // lookups from a point to the next, at least
  std::uint64_t next_ = 0;
};

/// When there are too many, every second one goes, and new ones come half as often.
inline void Timeline::keep(const Point& now) {
  if (points_.size() == most_points) {
    for (std::size_t i = 0; i < most_points / 2; ++i) points_[i] = points_[2 * i + 1];
    points_.resize(most_points / 2);
    step_ = points_.back().lookups / points_.size();
  }
  points_.push_back(now);
  next_ = now.lookups + step_;
}

}  // namespace wherry::cache
