// 1 / r^3 from r^2 without root or division: an estimate y of 1 / r, and a polynomial in e = 1 - r^2 y^2, which is
//   small: r^-3 = y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 + 35/16 e^3 + ...)
// The leading coefficient of what is left of the series is taken out, to be multiplied into masses beforehand: a
// polynomial that begins with 1 takes a multiplication less.
// Included once for each set of instructions (Highway's foreach_target).
#include <hwy/highway.h>

#include "nbody/kernels.hpp"

#if defined(NBODY_LAWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_LAWS_INL
#undef NBODY_LAWS_INL
#else
#define NBODY_LAWS_INL
#endif

#include "support/simd/reciprocal_root-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using apps::HWY_NAMESPACE::reciprocal_root;

/// The series after y^3, divided by its last coefficient `scale`: what is left out is the law's error. In t = e + shift
/// instead of e the term before the last one is gone, and t takes no more instructions than e.
struct Full {
  static constexpr double scale = 35.0 / 16, shift = 2.0 / 7;
  static constexpr int fused = 2;  // instructions
  /// e^3 + 6/7 e^2 + 24/35 e + 16/35 = (t^2 + linear) t + rest.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D d, V t) {
    constexpr double linear = 108.0 / 245;
    // Of what shift and linear are after rounding.
    constexpr long double s = (1 + shift) - 1.0L;
    constexpr double rest = static_cast<double>(16.0L / 35 - (s * s + linear) * s);
    return hn::MulAdd(hn::MulAdd(t, t, hn::Set(d, linear)), t, hn::Set(d, rest));
  }
};
struct Reduced {
  static constexpr double scale = 3.0 / 2, shift = 2.0 / 3;
  static constexpr int fused = 0;
  /// e + 2/3.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D, V t) {
    return t;
  }
};
struct Single {
  static constexpr float scale = 15.0F / 8, shift = 2.0F / 5;
  static constexpr int fused = 1;
  /// e^2 + 4/5 e + 8/15.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D d, V t) {
    return hn::MulAdd(t, t, hn::Set(d, 28.0F / 75));
  }
};

/// possible: bodies may coincide. excluded: eps keeps r^2 above what counts as that.
enum class Near { possible, excluded };

template <class D>
constexpr hn::TFromD<D> least_square() {
  // In single precision lengths are in units of the extent (simd/single.hpp).
  return sizeof(hn::TFromD<D>) == 4 ? hn::TFromD<D>(1e-24) : hn::TFromD<D>(coincident * coincident);
}

/// The estimate of 1 / r, and 0 for bodies that coincide.
template <Near near, class D, class V = hn::Vec<D>>
HWY_INLINE V estimate(D d, V r2) {
  const V y = reciprocal_root(d, r2);
  if constexpr (near == Near::excluded) return y;
  else return hn::IfThenElseZero(hn::Gt(r2, hn::Set(d, least_square<D>())), y);
}

/// r^-3 = scale * cube * series, from an estimate y of 1 / r.
template <class V>
struct InverseCube {
  V cube, series;
};
template <class Law, class D, class V = hn::Vec<D>>
HWY_INLINE InverseCube<V> inverse_cube(D d, V r2, V y) {
  const V y2 = hn::Mul(y, y);
  const V t = hn::NegMulAdd(r2, y2, hn::Set(d, hn::TFromD<D>(1 + Law::shift)));
  return {hn::Mul(y2, y), Law::series(d, t)};
}

/// 1 / r in the type's precision.
template <Near near, class D, class V = hn::Vec<D>>
HWY_INLINE V inverse(D d, V r2) {
  return apps::HWY_NAMESPACE::refined_root(d, r2, estimate<near>(d, r2));
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
