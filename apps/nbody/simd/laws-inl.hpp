// 1 / r^3 from r^2 without root or division: an estimate y of 1 / r, and a polynomial in e = 1 - r^2 y^2, which is small:
//   r^-3 = y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 + 35/16 e^3 + ...)
// Included once for each set of instructions (Highway's foreach_target).
#include <hwy/highway.h>

#include "nbody/kernels.hpp"

#if defined(NBODY_LAWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_LAWS_INL
#undef NBODY_LAWS_INL
#else
#define NBODY_LAWS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int estimate_instructions = 1;
#else
constexpr int estimate_instructions = 8;
#endif

/// 1 / sqrt(s), to 2^-14 by AVX-512's estimate, elsewhere to 6e-6.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal_root(D d, V s) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ApproximateReciprocalSqrt(s);
  } else {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    (void)d;
    return V{_mm512_rsqrt14_pd(s.raw)};
#else
    // Halving the exponent in the bits gives 3.4e-2 (Lomont, Fast inverse square root, 2003); then four terms of the series.
    const hn::RebindToUnsigned<D> bits;
    const auto magic = hn::Set(bits, std::uint64_t{0x5fe6eb50c7b537a9});
    const V y = hn::BitCast(d, hn::Sub(magic, hn::ShiftRight<1>(hn::BitCast(bits, s))));
    const V e = hn::NegMulAdd(hn::Mul(s, y), y, hn::Set(d, 1.0));
    const V p = hn::MulAdd(hn::MulAdd(hn::Set(d, 5.0 / 16), e, hn::Set(d, 3.0 / 8)), e, hn::Set(d, 0.5));
    return hn::MulAdd(hn::Mul(y, e), p, y);
#endif
  }
}

/// Terms of the series after the first: what is left out is the law's error.
struct Full {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D d, V e) {
    return hn::MulAdd(hn::MulAdd(hn::Set(d, 35.0 / 16), e, hn::Set(d, 15.0 / 8)), e, hn::Set(d, 1.5));
  }
};
struct Reduced {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D d, V) {
    return hn::Set(d, 1.5);
  }
};
struct Single {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V series(D d, V e) {
    return hn::MulAdd(hn::Set(d, 15.0F / 8), e, hn::Set(d, 1.5F));
  }
};

/// possible: bodies may coincide. excluded: eps keeps r^2 above what counts as that.
enum class Near { possible, excluded };

template <class D>
constexpr hn::TFromD<D> least_square() {
  // In single precision lengths are in units of the extent (simd/single.hpp).
  return sizeof(hn::TFromD<D>) == 4 ? hn::TFromD<D>(1e-24) : hn::TFromD<D>(coincident * coincident);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V zero_if_near(D d, V r2, V value) {
  return hn::IfThenElseZero(hn::Gt(r2, hn::Set(d, least_square<D>())), value);
}

/// 1 / r^3, and 0 for bodies that coincide.
template <class Law, Near near, class D, class V = hn::Vec<D>>
HWY_INLINE V inverse_cube(D d, V r2) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  V y = reciprocal_root(d, r2);
  if constexpr (near == Near::possible) y = zero_if_near(d, r2, y);
  const V y2 = hn::Mul(y, y);
  const V y3 = hn::Mul(y2, y);
  const V e = hn::NegMulAdd(r2, y2, one);
  return hn::MulAdd(hn::Mul(y3, e), Law::series(d, e), y3);
}

/// 1 / r, in full precision.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverse(D d, V r2) {
  const V y = zero_if_near(d, r2, reciprocal_root(d, r2));
  const V e = hn::NegMulAdd(hn::Mul(r2, y), y, hn::Set(d, hn::TFromD<D>(1)));
  const V p = hn::MulAdd(hn::MulAdd(hn::Set(d, 5.0 / 16), e, hn::Set(d, 3.0 / 8)), e, hn::Set(d, 0.5));
  return hn::MulAdd(hn::Mul(y, e), p, y);
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
