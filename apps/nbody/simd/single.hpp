// Copies of bodies in single precision, in units that keep every square within its range.
#pragma once

#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

/// Lengths relative to a centre, in units of the extent; masses in units of the largest.
class Frame {
 public:
  /// Holds all bodies of both ranges.
  Frame(const Points& rows, Range row_range, const Points& columns, Range column_range);

  float length(double value, int axis) const { return static_cast<float>((value - centre_[axis]) / extent_); }
  float mass(double value) const { return static_cast<float>(value / mass_); }
  float eps2(double value) const { return static_cast<float>(value / (extent_ * extent_)); }
  double acceleration() const { return mass_ / (extent_ * extent_); }  // the units
  double potential() const { return mass_ / extent_; }

 private:
  double centre_[3], extent_, mass_;
};

/// The bodies of a range as 0, 1, ..., and sums for them that begin at zero.
class SingleCopy {
 public:
  SingleCopy(const Frame& frame, const Points& points, Range range);

  Range all() const { return {0, count_}; }
  PointsOf<float> points() const;
  SumsOf<float> sums();
  float* potentials() { return values_.data() + 7 * count_; }
  /// Adds the sums to those of the bodies that were copied.
  void add_to(const Sums& sums, Range range, const Frame& frame) const;
  void add_to(double* potentials, Range range, const Frame& frame) const;

 private:
  std::size_t count_;
  std::vector<float> values_;  // x, y, z, m, three sums and potentials
};

}  // namespace nbody
