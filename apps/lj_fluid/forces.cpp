// Compiled once for each set of instructions; at run time the processor says which it has.
//
// Four pairs at a time. Differences of positions are vectors of a particle's coordinates, as they lie in memory; only
// the squares are transposed. So nothing is gathered or scattered, and forces are added to a site by one load and
// store.
#include "lj_fluid/forces.hpp"

#include "support/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lj_fluid/forces.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef LJ_FLUID_FORCES
#define LJ_FLUID_FORCES
namespace lj_fluid {

/// Plain data: nothing compiled for one set of instructions may be shared with the others.
struct Task {
  double* sites;  // eight numbers each
  const std::uint32_t *begins, *others;
  std::size_t first, last;
  double cutoff2, shift;
  double *energy, *virial;
};

}  // namespace lj_fluid
#endif

HWY_BEFORE_NAMESPACE();
namespace lj_fluid::HWY_NAMESPACE {

#if HWY_MAX_BYTES >= 32
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::FixedTag<double, 4>;
using Four = hn::Vec<Tag>;

/// The squared lengths of four vectors.
HWY_INLINE Four squares(Four a, Four b, Four c, Four d) {
  const Tag tag;
  a = hn::Mul(a, a), b = hn::Mul(b, b), c = hn::Mul(c, c), d = hn::Mul(d, d);
  const Four ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const Four cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  return hn::Add(hn::ConcatLowerLower(tag, cd, ab), hn::ConcatUpperUpper(tag, cd, ab));
}

HWY_INLINE Four react(double* site, double scale, Four difference) {
  const Tag tag;
  const Four force = hn::Mul(hn::Set(tag, scale), difference);
  hn::Store(hn::Sub(hn::Load(tag, site + 4), force), tag, site + 4);
  return force;
}

struct Constants {
  Four cutoff2, shift;
};

/// What the four pairs have of energy and virial.
HWY_INLINE void add_totals(const Constants& constants, Four r2, Four s6, Four scale, Four& energy,
                           Four& virial) {
  const Tag tag;
  const Four pair =
      hn::MulAdd(hn::Mul(hn::Set(tag, 4.0), s6), hn::Sub(s6, hn::Set(tag, 1.0)), constants.shift);
  energy = hn::Add(energy, hn::IfThenElseZero(hn::Lt(r2, constants.cutoff2), pair));
  virial = hn::MulAdd(scale, r2, virial);
}

/// The sum of the forces of four sites on the one at x.
template <bool totals>
HWY_INLINE Four group(double* sites, const std::uint32_t* others, Four x, const Constants& constants,
                      Four& energy, Four& virial) {
  const Tag tag;
  double* const a = sites + 8 * std::size_t{others[0]};
  double* const b = sites + 8 * std::size_t{others[1]};
  double* const c = sites + 8 * std::size_t{others[2]};
  double* const d = sites + 8 * std::size_t{others[3]};
  const Four da = hn::Sub(x, hn::Load(tag, a)), db = hn::Sub(x, hn::Load(tag, b));
  const Four dc = hn::Sub(x, hn::Load(tag, c)), dd = hn::Sub(x, hn::Load(tag, d));
  const Four r2 = squares(da, db, dc, dd);
  const Four inverse = hn::Div(hn::Set(tag, 1.0), r2);
  const Four s6 = hn::Mul(inverse, hn::Mul(inverse, inverse));
  const Four slope = hn::Mul(hn::Mul(inverse, s6), hn::MulSub(hn::Set(tag, 48.0), s6, hn::Set(tag, 24.0)));
  const Four scale = hn::IfThenElseZero(hn::Lt(r2, constants.cutoff2), slope);
  if constexpr (totals) add_totals(constants, r2, s6, scale, energy, virial);
  alignas(32) double scales[4];
  hn::Store(scale, tag, scales);
  const Four fa = react(a, scales[0], da), fb = react(b, scales[1], db);
  const Four fc = react(c, scales[2], dc), fd = react(d, scales[3], dd);
  return hn::Add(hn::Add(fa, fb), hn::Add(fc, fd));
}

template <bool totals>
void run(const Task& task) {
  const Tag tag;
  const Constants constants{hn::Set(tag, task.cutoff2), hn::Set(tag, task.shift)};
  Four energy = hn::Zero(tag), virial = hn::Zero(tag);
  for (std::size_t i = task.first; i < task.last; ++i) {
    const std::uint32_t begin = task.begins[i], end = task.begins[i + 1];
    if (begin == end) continue;
    double* const site = task.sites + 8 * i;
    const Four x = hn::Load(tag, site);
    Four sum = hn::Load(tag, site + 4);
    for (std::uint32_t k = begin; k < end; k += 4)
      sum = hn::Add(sum, group<totals>(task.sites, task.others + k, x, constants, energy, virial));
    hn::Store(sum, tag, site + 4);
  }
  if constexpr (totals) {
    *task.energy += hn::GetLane(hn::SumOfLanes(tag, energy));
    *task.virial += hn::GetLane(hn::SumOfLanes(tag, virial));
  }
}

bool has_kernel() { return true; }
void forces(const Task& task) {
  if (task.energy != nullptr) run<true>(task);
  else run<false>(task);
}
#else
bool has_kernel() { return false; }
void forces(const Task&) {}
#endif

}  // namespace lj_fluid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lj_fluid {

HWY_EXPORT(has_kernel);
HWY_EXPORT(forces);

namespace {

/// What a pair adds; returns the force divided by the distance.
double pair(double r2, const Potential& potential, Totals* totals) {
  const double inverse = 1 / r2, s6 = inverse * inverse * inverse;
  const double scale = inverse * s6 * (48 * s6 - 24);
  if (totals != nullptr) {
    totals->energy += 4 * s6 * (s6 - 1) + potential.shift;
    totals->virial += scale * r2;
  }
  return scale;
}

void add_pair(Site& a, Site& b, const Potential& potential, Totals* totals) {
  Vector difference;
  double r2 = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    difference[k] = a.position[k] - b.position[k];
    r2 += difference[k] * difference[k];
  }
  if (!(r2 < potential.cutoff * potential.cutoff)) return;
  const double scale = pair(r2, potential, totals);
  for (std::size_t k = 0; k < 3; ++k) {
    a.force[k] += scale * difference[k];
    b.force[k] -= scale * difference[k];
  }
}

}  // namespace

void add_forces_scalar(std::span<Site> sites, const PairLists& lists, std::size_t first, std::size_t last,
                       const Potential& potential, Totals* totals) {
  for (std::size_t i = first; i < last; ++i)
    for (std::uint32_t k = lists.begins[i]; k < lists.begins[i + 1]; ++k)
      add_pair(sites[i], sites[lists.others[k]], potential, totals);
}

void add_forces(std::span<Site> sites, const PairLists& lists, std::size_t first, std::size_t last,
                const Potential& potential, Totals* totals) {
  if (!HWY_DYNAMIC_DISPATCH(has_kernel)())
    return add_forces_scalar(sites, lists, first, last, potential, totals);
  HWY_DYNAMIC_DISPATCH(forces)
  ({reinterpret_cast<double*>(sites.data()), lists.begins.data(), lists.others.data(), first, last,
    potential.cutoff * potential.cutoff, potential.shift, totals != nullptr ? &totals->energy : nullptr,
    totals != nullptr ? &totals->virial : nullptr});
}

}  // namespace lj_fluid
#endif
