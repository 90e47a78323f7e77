// Plain loops, vectorised by the compiler for each set of instructions: what the other kernels are measured against.
#include <hwy/highway.h>

#include "nbody/kernels.hpp"

#if defined(NBODY_PLAIN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_PLAIN_INL
#undef NBODY_PLAIN_INL
#else
#define NBODY_PLAIN_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE::plain {

/// By value: with references the compiler would fear that the sums are written over the addresses.
void row(Points p, std::size_t i, Points q, Range columns, double eps2, Sums p_sums, Sums q_sums) {
  const double x = p.x[i], y = p.y[i], z = p.z[i], m = p.m[i];
  double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
  for (std::size_t j = columns.begin; j < columns.end; ++j) {
    const double dx = q.x[j] - x, dy = q.y[j] - y, dz = q.z[j] - z;
    const double r2 = dx * dx + dy * dy + dz * dz + eps2;
    const double inverse_cube = 1 / (r2 * __builtin_sqrt(r2));
    const double pull = r2 > coincident * coincident ? inverse_cube : 0;
    const double by_column = pull * q.m[j], by_row = pull * m;
    ax += by_column * dx;
    ay += by_column * dy;
    az += by_column * dz;
    q_sums.x[j] -= by_row * dx;
    q_sums.y[j] -= by_row * dy;
    q_sums.z[j] -= by_row * dz;
  }
  p_sums.x[i] += ax;
  p_sums.y[i] += ay;
  p_sums.z[i] += az;
}

void row_onto(Points p, std::size_t i, Points q, Range columns, double eps2, Sums sums) {
  const double x = p.x[i], y = p.y[i], z = p.z[i];
  double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
  for (std::size_t j = columns.begin; j < columns.end; ++j) {
    const double dx = q.x[j] - x, dy = q.y[j] - y, dz = q.z[j] - z;
    const double r2 = dx * dx + dy * dy + dz * dz + eps2;
    const double inverse_cube = 1 / (r2 * __builtin_sqrt(r2));
    const double by_column = (r2 > coincident * coincident ? inverse_cube : 0) * q.m[j];
    ax += by_column * dx;
    ay += by_column * dy;
    az += by_column * dz;
  }
  sums.x[i] += ax;
  sums.y[i] += ay;
  sums.z[i] += az;
}

void within(const Points& points, Range range, double eps2, const Sums& sums) {
  for (std::size_t i = range.begin; i < range.end; ++i)
    row(points, i, points, {i + 1, range.end}, eps2, sums, sums);
}

void between(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
             const Sums& row_sums, const Sums& column_sums) {
  for (std::size_t i = row_range.begin; i < row_range.end; ++i)
    row(rows, i, columns, column_range, eps2, row_sums, column_sums);
}

void onto(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
          const Sums& row_sums) {
  for (std::size_t i = row_range.begin; i < row_range.end; ++i)
    row_onto(rows, i, columns, column_range, eps2, row_sums);
}

}  // namespace nbody::HWY_NAMESPACE::plain
HWY_AFTER_NAMESPACE();
#endif
