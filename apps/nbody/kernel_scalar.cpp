// Compiled without vectorisation: what one pair costs, and an oracle for the other kernels.
#include <cmath>

#include "nbody/kernels.hpp"

namespace nbody {
namespace {

struct Pair {
  double dx, dy, dz;
  double pull;  // 1 / r^3

  Pair(const Points& p, std::size_t i, const Points& q, std::size_t j, double eps2)
      : dx(q.x[j] - p.x[i]), dy(q.y[j] - p.y[i]), dz(q.z[j] - p.z[i]) {
    const double r2 = dx * dx + dy * dy + dz * dz + eps2;
    pull = r2 > coincident * coincident ? 1 / (r2 * std::sqrt(r2)) : 0;
  }

  void add(const Sums& sums, std::size_t body, double strength) const {
    sums.x[body] += strength * dx;
    sums.y[body] += strength * dy;
    sums.z[body] += strength * dz;
  }
};

void both(const Points& p, std::size_t i, const Points& q, std::size_t j, double eps2, const Sums& p_sums,
          const Sums& q_sums) {
  const Pair pair(p, i, q, j, eps2);
  pair.add(p_sums, i, pair.pull * q.m[j]);
  pair.add(q_sums, j, -pair.pull * p.m[i]);
}

void within(const Points& points, Range range, double eps2, const Sums& sums) {
  for (std::size_t i = range.begin; i < range.end; ++i)
    for (std::size_t j = i + 1; j < range.end; ++j) both(points, i, points, j, eps2, sums, sums);
}

void between(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
             const Sums& row_sums, const Sums& column_sums) {
  for (std::size_t i = row_range.begin; i < row_range.end; ++i)
    for (std::size_t j = column_range.begin; j < column_range.end; ++j)
      both(rows, i, columns, j, eps2, row_sums, column_sums);
}

void onto(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
          const Sums& row_sums) {
  for (std::size_t i = row_range.begin; i < row_range.end; ++i)
    for (std::size_t j = column_range.begin; j < column_range.end; ++j) {
      const Pair pair(rows, i, columns, j, eps2);
      pair.add(row_sums, i, pair.pull * columns.m[j]);
    }
}

}  // namespace

const Kernel& scalar_kernel() {
  static const Kernel kernel = {.name = "scalar",
                                .meaning = "one pair after the other, with a root and a division",
                                .error = 1e-14,
                                .within = within,
                                .between = between,
                                .onto = onto};
  return kernel;
}

}  // namespace nbody
