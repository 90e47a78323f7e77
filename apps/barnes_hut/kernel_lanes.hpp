// The kernel for vectors of some width, in the vector extensions that GCC and Clang share. Each file that includes this
// is compiled for another processor, so nothing here may be a function that they have in common: no standard library.
#pragma once

#include "barnes_hut/kernel.hpp"

namespace barnes_hut {

template <int width>
struct Lanes {
  using Real [[gnu::vector_size(width * sizeof(double))]] = double;
  using Bits [[gnu::vector_size(width * sizeof(double))]] = unsigned long long;

  struct Sums {
    Real ax, ay, az, potential;
  };
  struct Distance {
    Real x, y, z, squared;  // from target to source
  };

  [[gnu::always_inline]] static Real load(const double* from) {
    Real all;
    __builtin_memcpy(&all, from, sizeof all);
    return all;
  }
  [[gnu::always_inline]] static void accumulate(double* to, const Real& more) {
    const Real all = load(to) + more;
    __builtin_memcpy(to, &all, sizeof all);
  }

  /// y (1 - e)^(-1/2) with e = 1 - x y^2, up to e^3: what y is off by is taken to the fourth power.
  [[gnu::always_inline]] static Real refined(const Real& x, const Real& y) {
    const Real e = 1.0 - x * (y * y);
    return y + y * (e * (0.5 + e * (0.375 + e * 0.3125)));
  }

  /// 1 / sqrt(x) to rounding, without a division or a root: half the exponent, minus, is good to 3.4%; then 7e-6; then
  /// 1e-16.
  [[gnu::always_inline]] static Real inverse_root(const Real& x) {
    const Bits first = 0x5fe6eb50c7b537a9ULL - ((Bits)x >> 1);
    return refined(x, refined(x, (Real)first));
  }

  /// 1 / distance, softened; 0 at no distance at all.
  [[gnu::always_inline]] static Real inverse(const Distance& d, double softening2) {
    const Real softened = d.squared + softening2;
    return (Real)((Bits)inverse_root(softened) & (Bits)(d.squared > 0.0));
  }

  template <class Source>
  [[gnu::always_inline]] static Distance distance(const Source& source, const Real& x, const Real& y,
                                                  const Real& z) {
    const Real dx = source.x - x, dy = source.y - y, dz = source.z - z;
    return {dx, dy, dz, dx * dx + dy * dy + dz * dz};
  }

  [[gnu::always_inline]] static void attract(Sums& sums, const Body& body, const Distance& d,
                                             double softening2) {
    const Real inv = inverse(d, softening2), potential = body.mass * inv, pull = potential * (inv * inv);
    sums.ax += pull * d.x;
    sums.ay += pull * d.y;
    sums.az += pull * d.z;
    sums.potential -= potential;
  }

  /// With T three times the second moments and d the distance r, softened:
  ///   potential = -m / d - (r T r) / (2 d^5) + trace(T) / (6 d^3), and its gradient.
  [[gnu::always_inline]] static void attract(Sums& sums, const Moments& m, const Distance& d,
                                             double softening2) {
    const Real inv = inverse(d, softening2), inv2 = inv * inv, inv3 = inv * inv2, inv5 = inv3 * inv2;
    const double trace = m.xx + m.yy + m.zz;
    const Real tx = m.xx * d.x + m.xy * d.y + m.xz * d.z;
    const Real ty = m.xy * d.x + m.yy * d.y + m.yz * d.z;
    const Real tz = m.xz * d.x + m.yz * d.y + m.zz * d.z;
    const Real quadratic = tx * d.x + ty * d.y + tz * d.z;
    const Real pull = m.mass * inv3 + inv5 * (2.5 * (quadratic * inv2) - 0.5 * trace);
    sums.ax += pull * d.x - inv5 * tx;
    sums.ay += pull * d.y - inv5 * ty;
    sums.az += pull * d.z - inv5 * tz;
    sums.potential -= m.mass * inv + 0.5 * (quadratic * inv5) - (trace / 6) * inv3;
  }

  static void add(const Targets& t, const Body* bodies, std::size_t body_count, const Moments* cells,
                  std::size_t cell_count, double softening) {
    const double softening2 = softening * softening;
    for (std::size_t i = 0; i < t.count; i += width) {
      const Real x = load(t.x + i), y = load(t.y + i), z = load(t.z + i);
      Sums sums{};
      for (std::size_t s = 0; s < body_count; ++s)
        attract(sums, bodies[s], distance(bodies[s], x, y, z), softening2);
      for (std::size_t s = 0; s < cell_count; ++s)
        attract(sums, cells[s], distance(cells[s], x, y, z), softening2);
      accumulate(t.ax + i, sums.ax);
      accumulate(t.ay + i, sums.ay);
      accumulate(t.az + i, sums.az);
      accumulate(t.potential + i, sums.potential);
    }
  }
};

}  // namespace barnes_hut
