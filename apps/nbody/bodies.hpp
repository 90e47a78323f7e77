// Bodies as a structure of arrays: one array per coordinate, so that kernels load several bodies at once.
//
// Units: the constant of gravitation is 1. With masses in m0 and lengths in l0, times are in sqrt(l0^3 / (G m0)).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace nbody {

/// Indices begin <= i < end.
struct Range {
  std::size_t begin = 0, end = 0;
  constexpr std::size_t size() const { return end - begin; }
  constexpr bool empty() const { return begin == end; }
  bool operator==(const Range&) const = default;
};

/// Part `part` of `parts` of a range, in order; their sizes differ by one at most.
constexpr Range part_of(Range range, std::size_t part, std::size_t parts) {
  return {range.begin + range.size() * part / parts, range.begin + range.size() * (part + 1) / parts};
}

/// What a kernel reads: places and masses. Owns nothing.
template <class T>
struct PointsOf {
  const T *x, *y, *z, *m;
};
using Points = PointsOf<double>;

/// What a kernel adds to: a component of the acceleration each. Owns nothing.
template <class T>
struct SumsOf {
  T *x, *y, *z;
};
using Sums = SumsOf<double>;

/// The three components of a vector for each body, one component after the other in one piece of memory.
class Vectors {
 public:
  explicit Vectors(std::size_t count = 0) : count_(count), values_(3 * count) {}

  std::size_t size() const { return count_; }
  std::span<double> operator[](std::size_t axis) { return std::span(values_).subspan(axis * count_, count_); }
  std::span<const double> operator[](std::size_t axis) const {
    return std::span(values_).subspan(axis * count_, count_);
  }
  /// All components: 3 * size() numbers.
  std::span<double> all() { return values_; }
  std::span<const double> all() const { return values_; }
  Sums sums() { return {values_.data(), values_.data() + count_, values_.data() + 2 * count_}; }
  std::array<double, 3> at(std::size_t body) const {
    return {(*this)[0][body], (*this)[1][body], (*this)[2][body]};
  }
  bool operator==(const Vectors&) const = default;

 private:
  std::size_t count_;
  std::vector<double> values_;
};

struct Bodies {
  explicit Bodies(std::size_t count = 0) : m(count), place(count), velocity(count) {}

  std::size_t size() const { return m.size(); }
  Points points() const { return {place[0].data(), place[1].data(), place[2].data(), m.data()}; }
  bool operator==(const Bodies&) const = default;

  std::vector<double> m;
  Vectors place, velocity;
};

}  // namespace nbody
