// Sums over the lanes of four vectors at once: a third of the instructions that each would take alone.
// Included once for each set of instructions.
#include <hwy/highway.h>

#if defined(NBODY_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_LANES_INL
#undef NBODY_LANES_INL
#else
#define NBODY_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct FourSums {
  T of[4];
};

#if HWY_TARGET == HWY_SCALAR

template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE FourSums<T> sums_of_lanes(D, V a, V b, V c, V e) {
  return {{hn::GetLane(a), hn::GetLane(b), hn::GetLane(c), hn::GetLane(e)}};
}

#else

constexpr std::size_t bytes_in_block = 16;  // within which lanes are interleaved

/// The lanes of a and of b, added by twos, in turns.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V added_in_turns(D d, V a, V b) {
  return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}

/// The upper half added to the lower one, until a block is left; stored.
template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void store_sum_of_blocks(D d, V v, T* to) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) > bytes_in_block) {
    const hn::Half<D> half;
    store_sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), to);
  } else {
    hn::StoreU(v, d, to);
  }
}

template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE FourSums<T> sums_of_lanes(D d, V a, V b, V c, V e) {
  FourSums<T> sums;
  if constexpr (sizeof(T) == 8) {
    store_sum_of_blocks(d, added_in_turns(d, a, b), sums.of);
    store_sum_of_blocks(d, added_in_turns(d, c, e), sums.of + 2);
  } else {
    store_sum_of_blocks(d, added_in_turns(d, added_in_turns(d, a, c), added_in_turns(d, b, e)), sums.of);
  }
  return sums;
}

#endif

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
