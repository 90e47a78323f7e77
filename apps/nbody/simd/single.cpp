#include "nbody/simd/single.hpp"

#include <algorithm>

namespace nbody {
namespace {

struct Interval {
  double least, most;
};

void widen(Interval& interval, const double* values, Range range) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    interval.least = std::min(interval.least, values[i]);
    interval.most = std::max(interval.most, values[i]);
  }
}

/// A unit must not be zero: all bodies at one place, or all without mass.
double unit(double value) { return value > 0 ? value : 1; }

}  // namespace

Frame::Frame(const Points& rows, Range row_range, const Points& columns, Range column_range) {
  const auto interval = [&](const double* of_rows, const double* of_columns) {
    const double first = row_range.empty() ? 0 : of_rows[row_range.begin];
    Interval found{first, first};
    widen(found, of_rows, row_range);
    widen(found, of_columns, column_range);
    return found;
  };
  const Interval axes[3] = {interval(rows.x, columns.x), interval(rows.y, columns.y),
                            interval(rows.z, columns.z)};
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) {
    centre_[axis] = (axes[axis].least + axes[axis].most) / 2;
    extent = std::max(extent, axes[axis].most - axes[axis].least);
  }
  extent_ = unit(extent);
  mass_ = unit(interval(rows.m, columns.m).most);
}

SingleCopy::SingleCopy(const Frame& frame, const Points& points, Range range)
    : count_(range.size()), values_(8 * count_) {
  const double* const axes[3] = {points.x, points.y, points.z};
  for (std::size_t i = 0; i < count_; ++i) {
    for (int axis = 0; axis < 3; ++axis)
      values_[static_cast<std::size_t>(axis) * count_ + i] = frame.length(axes[axis][range.begin + i], axis);
    values_[3 * count_ + i] = frame.mass(points.m[range.begin + i]);
  }
}

PointsOf<float> SingleCopy::points() const {
  const float* const x = values_.data();
  return {x, x + count_, x + 2 * count_, x + 3 * count_};
}

SumsOf<float> SingleCopy::sums() {
  float* const x = values_.data() + 4 * count_;
  return {x, x + count_, x + 2 * count_};
}

void SingleCopy::add_to(const Sums& sums, Range range, const Frame& frame) const {
  const float* const mine = values_.data() + 4 * count_;
  double* const axes[3] = {sums.x, sums.y, sums.z};
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < count_; ++i)
      axes[axis][range.begin + i] += frame.acceleration() * static_cast<double>(mine[axis * count_ + i]);
}

void SingleCopy::add_to(double* potentials, Range range, const Frame& frame) const {
  const float* const mine = values_.data() + 7 * count_;
  for (std::size_t i = 0; i < count_; ++i)
    potentials[range.begin + i] += frame.potential() * static_cast<double>(mine[i]);
}

}  // namespace nbody
