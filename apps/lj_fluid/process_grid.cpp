#include "lj_fluid/process_grid.hpp"

#include <limits>

namespace lj_fluid {
namespace {

using Grid = std::array<int, 3>;

bool fits(const Grid& grid, int dimensions, const Vector& lengths, double width) {
  int cut = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (lengths[i] / grid[i] < width) return false;
    cut += grid[i] > 1;
  }
  return cut <= dimensions;
}

double surface(const Grid& grid, const Vector& lengths) {
  const double x = lengths[0] / grid[0], y = lengths[1] / grid[1], z = lengths[2] / grid[2];
  return x * y + y * z + z * x;
}

}  // namespace

std::optional<Grid> process_grid(int domains, int dimensions, const Vector& lengths, double width) {
  std::optional<Grid> best;
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= domains; ++x) {
    if (domains % x != 0) continue;
    for (int y = 1; y <= domains / x; ++y) {
      if (domains / x % y != 0) continue;
      const Grid grid{x, y, domains / x / y};
      if (!fits(grid, dimensions, lengths, width) || surface(grid, lengths) >= least) continue;
      best = grid;
      least = surface(grid, lengths);
    }
  }
  return best;
}

int most_domains(int domains, int dimensions, const Vector& lengths, double width) {
  while (domains > 0 && !process_grid(domains, dimensions, lengths, width)) --domains;
  return domains;
}

}  // namespace lj_fluid
