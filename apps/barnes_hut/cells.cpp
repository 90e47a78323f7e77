#include "barnes_hut/cells.hpp"

#include <cmath>

namespace barnes_hut {
namespace {

const Body& heavy_point(const Body& body) { return body; }
Body heavy_point(const Cell& cell) {
  return {cell.moments.x, cell.moments.y, cell.moments.z, cell.moments.mass};
}

void add_own(Moments&, const Body&) {}
void add_own(Moments& sum, const Cell& cell) {
  sum.xx += cell.moments.xx;
  sum.xy += cell.moments.xy;
  sum.xz += cell.moments.xz;
  sum.yy += cell.moments.yy;
  sum.yz += cell.moments.yz;
  sum.zz += cell.moments.zz;
}

/// Without mass the centre is the middle. In two passes over the parts: about a centre that is known, small moments do
/// not drown in large coordinates.
template <class Part>
Moments moments(std::span<const Part> parts, const Point& middle) {
  Moments sum;
  for (const Part& part : parts) {
    const Body point = heavy_point(part);
    sum.mass += point.mass;
    sum.x += point.mass * (point.x - middle.x);
    sum.y += point.mass * (point.y - middle.y);
    sum.z += point.mass * (point.z - middle.z);
  }
  const double share = sum.mass > 0 ? 1 / sum.mass : 0;
  sum.x = middle.x + sum.x * share;
  sum.y = middle.y + sum.y * share;
  sum.z = middle.z + sum.z * share;
  for (const Part& part : parts) {
    const Body point = heavy_point(part);
    const double dx = point.x - sum.x, dy = point.y - sum.y, dz = point.z - sum.z, weight = 3 * point.mass;
    sum.xx += weight * dx * dx;
    sum.xy += weight * dx * dy;
    sum.xz += weight * dx * dz;
    sum.yy += weight * dy * dy;
    sum.yz += weight * dy * dz;
    sum.zz += weight * dz * dz;
    add_own(sum, part);
  }
  return sum;
}

template <class Part>
Cell cell(std::span<const Part> parts, Key key, int level, const Cube& cube) {
  const Point at = middle(key, level, cube);
  const Moments m = moments(parts, at);
  return {
      .moments = m, .edge = cube.edge_at(level), .offset = std::hypot(m.x - at.x, m.y - at.y, m.z - at.z)};
}

}  // namespace

Cell cell_of(std::span<const Body> bodies, Key key, int level, const Cube& cube) {
  return cell(bodies, key, level, cube);
}
Cell cell_of(std::span<const Cell> children, Key key, int level, const Cube& cube) {
  return cell(children, key, level, cube);
}

}  // namespace barnes_hut
