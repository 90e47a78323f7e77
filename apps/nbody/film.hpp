// A run as a moving picture: a GIF whose frames show how many bodies are where, seen along the z axis.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

class Film {
 public:
  static constexpr std::size_t side = 400;  // pixels, of the square that a frame is

  /// What is in view is fixed by the first bodies: nearly all of them, and a margin.
  explicit Film(const Bodies& first);

  /// One more frame.
  void add(const Bodies& bodies);

  std::size_t frames() const { return frames_; }
  /// The file, of all frames so far.
  std::string gif() const;

  /// Where a body is seen; out of view if a number is negative or not below `side`.
  std::array<long, 2> pixel(const Bodies& bodies, std::size_t body) const;

 private:
  double centre_[2], half_;  // of what is in view
  std::size_t frames_ = 0;
  std::string coded_;
};

/// The picture that shows bodies at these pixels: how bright each is, row by row from above, 0 to 127.
using Picture = std::vector<std::uint8_t>;

/// One frame's data, of one pixel or more, in GIF's variant of Lempel's, Ziv's and Welch's compression (GIF89a,
/// appendix F), as blocks.
std::string compressed(const Picture& picture);

}  // namespace nbody
