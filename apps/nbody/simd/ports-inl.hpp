// The instructions of a kernel without their dependences: how long the processor's ports take for them.
// Included once for each set of instructions.
#include <hwy/highway.h>

#if defined(NBODY_PORTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_PORTS_INL
#undef NBODY_PORTS_INL
#else
#define NBODY_PORTS_INL
#endif

#include "nbody/simd/blocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

/// Numbers that do not wait for each other: as many as the registers hold, or two instructions a cycle would wait for
/// the results of those before.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int fused_chains = 8, added_chains = 4;
#else
constexpr int fused_chains = 16, added_chains = 8;
#endif
/// Each of the chains of products holds an estimate now and then.
constexpr int mixtures_in_round = 16;

template <int fused, int added>
double mixture(std::size_t times) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<hn::ScalableTag<double>>;
  V products[fused_chains], sums[added_chains];
  HWY_UNROLL(16)
  for (int k = 0; k < fused_chains; ++k) products[k] = hn::Set(d, 1.0 + k);  // all different, or one would do
  HWY_UNROLL(16)
  for (int k = 0; k < added_chains; ++k) sums[k] = hn::Set(d, 1.0 + k);
  const V factor = hn::Set(d, 0.75);
  for (std::size_t round = 0; round < times / mixtures_in_round; ++round) {
    HWY_UNROLL(16)
    for (int u = 0; u < mixtures_in_round; ++u) {
      HWY_UNROLL(32)
      for (int k = 0; k < fused; ++k) {
        V& product = products[(u * fused + k) % fused_chains];
        product = hn::MulAdd(product, factor, factor);
      }
      HWY_UNROLL(32)
      for (int k = 0; k < added; ++k) {
        V& sum = sums[(u * added + k) % added_chains];
        sum = hn::Add(sum, factor);
      }
      V& root = products[u % fused_chains];
      root = reciprocal_root(d, root);
    }
  }
  V all = hn::Zero(d);
  HWY_UNROLL(16)
  for (int k = 0; k < fused_chains; ++k) all = hn::Add(all, products[k]);
  HWY_UNROLL(16)
  for (int k = 0; k < added_chains; ++k) all = hn::Add(all, sums[k]);
  return hn::GetLane(hn::SumOfLanes(d, all));
}

template <class Law, Sides sides, Adds adds>
Instructions instructions() {
  using N = Count<Law, sides, adds>;
  return {N::fused, N::added, apps::HWY_NAMESPACE::estimate_instructions, mixture<N::fused, N::added>};
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
