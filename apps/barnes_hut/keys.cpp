#include "barnes_hut/keys.hpp"

#include <algorithm>
#include <cmath>

namespace barnes_hut {
namespace {

constexpr std::uint64_t steps = std::uint64_t{1} << most_levels;  // along an edge of the cube

/// Two zeros in front of each of 21 bits.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32) & 0x001f00000000ffffU;
  bits = (bits | bits << 16) & 0x001f0000ff0000ffU;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fU;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3U;
  return (bits | bits << 2) & 0x1249249249249249U;
}

/// The inverse of spread().
std::uint64_t joined(std::uint64_t bits) {
  bits &= 0x1249249249249249U;
  bits = (bits | bits >> 2) & 0x10c30c30c30c30c3U;
  bits = (bits | bits >> 4) & 0x100f00f00f00f00fU;
  bits = (bits | bits >> 8) & 0x001f0000ff0000ffU;
  bits = (bits | bits >> 16) & 0x001f00000000ffffU;
  return (bits | bits >> 32) & (steps - 1);
}

/// 0 for what is not a number.
std::uint64_t step_of(double place, double low, double edge) {
  const double step = (place - low) / edge * static_cast<double>(steps);
  return static_cast<std::uint64_t>(step > 0 ? std::min(step, static_cast<double>(steps - 1)) : 0);
}

}  // namespace

Cube cube_around(const Point& low, const Point& high) {
  const double extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (!(extent > 0)) return {low, 1};
  return {low, std::exp2(std::floor(std::log2(extent)) + 1)};
}

Key key_of(const Body& body, const Cube& cube) {
  return spread(step_of(body.x, cube.low.x, cube.edge)) << 2 |
         spread(step_of(body.y, cube.low.y, cube.edge)) << 1 | spread(step_of(body.z, cube.low.z, cube.edge));
}

Point middle(Key key, int level, const Cube& cube) {
  const int below = most_levels - level;
  const double edge = cube.edge_at(level);
  const auto along = [&](std::uint64_t bits, double low) {
    return low + (static_cast<double>(joined(bits) >> below) + 0.5) * edge;
  };
  return {along(key >> 2, cube.low.x), along(key >> 1, cube.low.y), along(key, cube.low.z)};
}

}  // namespace barnes_hut
