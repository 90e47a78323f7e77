// Compiled once for each set of instructions; at run time the processor says which it has.
#include "barnes_hut/kernel.hpp"

#include <algorithm>

#include "support/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "barnes_hut/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "support/simd/each_set.hpp"
#include "support/simd/reciprocal_root-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace barnes_hut::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, most_lanes>;
using Real = hn::Vec<Tag>;

HWY_INLINE Real all(double value) { return hn::Set(Tag(), value); }

struct Sums {
  Real ax, ay, az, potential;
};
struct Distance {
  Real x, y, z, squared;  // from target to source
};

template <class Source>
HWY_INLINE Distance distance(const Source& source, Real x, Real y, Real z) {
  const Real dx = hn::Sub(all(source.x), x), dy = hn::Sub(all(source.y), y), dz = hn::Sub(all(source.z), z);
  return {dx, dy, dz, hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)))};
}

/// 1 / distance to rounding, softened; 0 at no distance at all.
HWY_INLINE Real inverse(const Distance& d, Real softening2) {
  const Tag tag;
  const Real softened = hn::Add(d.squared, softening2);
  const Real inv =
      apps::HWY_NAMESPACE::refined_root(tag, softened, apps::HWY_NAMESPACE::reciprocal_root(tag, softened));
  return hn::IfThenElseZero(hn::Gt(d.squared, hn::Zero(tag)), inv);
}

HWY_INLINE void attract(Sums& sums, const Body& body, const Distance& d, Real softening2) {
  const Real inv = inverse(d, softening2);
  const Real potential = hn::Mul(all(body.mass), inv), pull = hn::Mul(potential, hn::Mul(inv, inv));
  sums.ax = hn::MulAdd(pull, d.x, sums.ax);
  sums.ay = hn::MulAdd(pull, d.y, sums.ay);
  sums.az = hn::MulAdd(pull, d.z, sums.az);
  sums.potential = hn::Sub(sums.potential, potential);
}

/// a x + b y + c z.
HWY_INLINE Real dot(Real a, Real b, Real c, const Distance& d) {
  return hn::MulAdd(c, d.z, hn::MulAdd(b, d.y, hn::Mul(a, d.x)));
}

/// With T three times the second moments and d the distance r, softened:
///   potential = -m / d - (r T r) / (2 d^5) + trace(T) / (6 d^3), and its gradient.
HWY_INLINE void attract(Sums& sums, const Moments& m, const Distance& d, Real softening2) {
  const Real inv = inverse(d, softening2), inv2 = hn::Mul(inv, inv), inv3 = hn::Mul(inv, inv2);
  const Real inv5 = hn::Mul(inv3, inv2), mass = all(m.mass), xy = all(m.xy), xz = all(m.xz), yz = all(m.yz);
  const double trace = m.xx + m.yy + m.zz;
  const Real tx = dot(all(m.xx), xy, xz, d), ty = dot(xy, all(m.yy), yz, d), tz = dot(xz, yz, all(m.zz), d);
  const Real half = hn::Mul(all(0.5), dot(tx, ty, tz, d));
  const Real of_moments = hn::MulSub(hn::Mul(all(5), half), inv2, all(0.5 * trace));
  const Real pull = hn::MulAdd(inv5, of_moments, hn::Mul(mass, inv3));
  sums.ax = hn::MulAdd(pull, d.x, hn::NegMulAdd(inv5, tx, sums.ax));
  sums.ay = hn::MulAdd(pull, d.y, hn::NegMulAdd(inv5, ty, sums.ay));
  sums.az = hn::MulAdd(pull, d.z, hn::NegMulAdd(inv5, tz, sums.az));
  const Real potential = hn::NegMulAdd(all(trace / 6), inv3, hn::MulAdd(half, inv5, hn::Mul(mass, inv)));
  sums.potential = hn::Sub(sums.potential, potential);
}

HWY_INLINE void accumulate(double* to, Real more) {
  hn::StoreU(hn::Add(hn::LoadU(Tag(), to), more), Tag(), to);
}

void add(const Targets& t, const Body* bodies, std::size_t body_count, const Moments* cells,
         std::size_t cell_count, double softening) {
  const Tag tag;
  const Real softening2 = all(softening * softening);
  for (std::size_t i = 0; i < t.count; i += hn::Lanes(tag)) {
    const Real x = hn::LoadU(tag, t.x + i), y = hn::LoadU(tag, t.y + i), z = hn::LoadU(tag, t.z + i);
    Sums sums{hn::Zero(tag), hn::Zero(tag), hn::Zero(tag), hn::Zero(tag)};
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

Kernel kernel() { return {hwy::TargetName(HWY_TARGET), add}; }

}  // namespace barnes_hut::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace barnes_hut {
namespace {

HWY_EXPORT(kernel);

std::vector<Kernel> find_kernels() {
  std::vector<Kernel> found;
  apps::for_each_set([&] { found.push_back(HWY_DYNAMIC_DISPATCH(kernel)()); });
  return found;
}

}  // namespace

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> all = find_kernels();
  return all;
}

const Kernel& best_kernel() { return kernels().front(); }

void TargetList::set(std::span<const Body> bodies) {
  count_ = (bodies.size() + most_lanes - 1) / most_lanes * most_lanes;
  numbers_.assign(lists * count_, 0);
  // What fills the last vector lies where the last body is.
  for (std::size_t i = 0; i < count_; ++i) {
    const Body& body = bodies[std::min(i, bodies.size() - 1)];
    at(0)[i] = body.x;
    at(1)[i] = body.y;
    at(2)[i] = body.z;
  }
}

void TargetList::add(const Kernel& kernel, const Sources& sources, double softening) {
  const Targets targets{at(0), at(1), at(2), at(3), at(4), at(5), at(6), count_};
  kernel.add(targets, sources.bodies.data(), sources.bodies.size(), sources.cells.data(),
             sources.cells.size(), softening);
}

}  // namespace barnes_hut
#endif
