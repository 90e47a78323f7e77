// 1 / sqrt(x) without root or division: an estimate y, and a polynomial in e = 1 - x y^2, which is small:
//   1 / sqrt(x) = y (1 - e)^(-1/2) = y (1 + e/2 + 3/8 e^2 + 5/16 e^3 + ...)
// Included once for each set of instructions (Highway's foreach_target).
#include <hwy/highway.h>

#include <cstdint>

#if defined(APPS_RECIPROCAL_ROOT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef APPS_RECIPROCAL_ROOT_INL
#undef APPS_RECIPROCAL_ROOT_INL
#else
#define APPS_RECIPROCAL_ROOT_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace apps::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y by four terms of the series, in single precision by three: what y is off by is taken to the fourth or third power.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V refined_root(D d, V x, V y) {
  using T = hn::TFromD<D>;
  const V e = hn::NegMulAdd(hn::Mul(x, y), y, hn::Set(d, T(1)));
  V p = hn::Set(d, T(3.0 / 8));
  if constexpr (sizeof(T) == 8) p = hn::MulAdd(hn::Set(d, T(5.0 / 16)), e, p);
  return hn::MulAdd(hn::Mul(y, e), hn::MulAdd(p, e, hn::Set(d, T(0.5))), y);
}

/// 1 / sqrt(x), to 2^-14 by AVX-512's estimate, elsewhere to 6e-6.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal_root(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ApproximateReciprocalSqrt(x);
  } else {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    (void)d;
    return V{_mm512_rsqrt14_pd(x.raw)};
#else
    // Halving the exponent in the bits gives 3.4e-2 (Lomont, Fast inverse square root, 2003).
    const hn::RebindToUnsigned<D> bits;
    const auto magic = hn::Set(bits, std::uint64_t{0x5fe6eb50c7b537a9});
    return refined_root(d, x, hn::BitCast(d, hn::Sub(magic, hn::ShiftRight<1>(hn::BitCast(bits, x)))));
#endif
  }
}

/// What an estimate takes, beside the estimating instruction itself where there is one.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int estimate_instructions = 1;
#else
constexpr int estimate_instructions = 8;
#endif

}  // namespace apps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
