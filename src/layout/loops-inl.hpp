// Loops over blocks: rows of constant stride, and what is faster than a row where strides allow it.
#if defined(WHERRY_LAYOUT_LOOPS) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_LAYOUT_LOOPS
#undef WHERRY_LAYOUT_LOOPS
#else
#define WHERRY_LAYOUT_LOOPS
#endif

#include "layout/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace wherry::layout::HWY_NAMESPACE {

template <class Copy>
HWY_INLINE void copy_row(Bytes to, ConstBytes from, std::int64_t count, std::int64_t to_stride,
                         std::int64_t from_stride, const Copy& copy) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    copy(to, from);
    copy(to + to_stride, from + from_stride);
    copy(to + 2 * to_stride, from + 2 * from_stride);
    copy(to + 3 * to_stride, from + 3 * from_stride);
    to += 4 * to_stride;
    from += 4 * from_stride;
  }
  for (; i < count; ++i) {
    copy(to, from);
    to += to_stride;
    from += from_stride;
  }
}

#if defined(WHERRY_HIGHWAY) && HWY_TARGET <= HWY_SSE4
/// Every second, third or fourth element, packed: whole vectors are loaded and taken apart. The last vector would
/// read beyond the last element, so it is left. Returns how many elements were copied.
template <class T>
HWY_INLINE std::int64_t pack_interleaved(Bytes to, ConstBytes from, std::int64_t count, std::int64_t every) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* const out = reinterpret_cast<T*>(to);
  const auto* const in = reinterpret_cast<const T*>(from);
  hn::Vec<decltype(d)> a, b, c, e;
  std::int64_t i = 0;
  for (; i + lanes < count; i += lanes) {
    if (every == 2) hn::LoadInterleaved2(d, in + i * 2, a, b);
    else if (every == 3) hn::LoadInterleaved3(d, in + i * 3, a, b, c);
    else hn::LoadInterleaved4(d, in + i * 4, a, b, c, e);
    hn::StoreU(a, d, out + i);
  }
  return i;
}

template <int Size>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = std::uint64_t;
};

/// How many elements of a row were copied in a faster way than one by one.
template <class Copy>
HWY_INLINE std::int64_t copied_in_vectors(Bytes, ConstBytes, std::int64_t, std::int64_t, std::int64_t,
                                          const Copy&) {
  return 0;
}
template <int Size>
  requires(Size == 1 || Size == 2 || Size == 4 || Size == 8)
HWY_INLINE std::int64_t copied_in_vectors(Bytes to, ConstBytes from, std::int64_t count,
                                          std::int64_t to_stride, std::int64_t from_stride,
                                          const FixedCopy<Size>&) {
  using T = typename UnsignedOf<Size>::Type;
  if (to_stride != Size) return 0;
  if (from_stride == 2 * Size) return pack_interleaved<T>(to, from, count, 2);
  if (from_stride == 3 * Size) return pack_interleaved<T>(to, from, count, 3);
  if (from_stride == 4 * Size) return pack_interleaved<T>(to, from, count, 4);
  return 0;
}
#else
template <class Copy>
HWY_INLINE std::int64_t copied_in_vectors(Bytes, ConstBytes, std::int64_t, std::int64_t, std::int64_t,
                                          const Copy&) {
  return 0;
}
#endif

template <class Copy>
HWY_NOINLINE void copy_rows(Bytes to, ConstBytes from, const Loop& outer, const Loop& inner,
                            const Copy& copy) {
  for (std::int64_t i = 0; i < outer.count; ++i) {
    std::byte* const row = to + i * outer.to;
    const std::byte* const source = from + i * outer.from;
    const std::int64_t done =
        inner.count < 32 ? 0 : copied_in_vectors(row, source, inner.count, inner.to, inner.from, copy);
    // The compiler makes better code for a stride that it knows.
    if (inner.to == copy.bytes())
      copy_row(row + done * copy.bytes(), source + done * inner.from, inner.count - done, copy.bytes(),
               inner.from, copy);
    else if (inner.from == copy.bytes())
      copy_row(row + done * inner.to, source + done * copy.bytes(), inner.count - done, inner.to,
               copy.bytes(), copy);
    else
      copy_row(row + done * inner.to, source + done * inner.from, inner.count - done, inner.to, inner.from,
               copy);
  }
}

/// Many short rows: the outer loop becomes the inner one, a stretch at a time that stays in the first cache.
template <class Copy>
HWY_INLINE void copy_short_rows(Bytes to, ConstBytes from, const Loop& outer, const Loop& inner,
                                const Copy& copy) {
  constexpr std::int64_t stretch = 128;
  for (std::int64_t i = 0; i < outer.count; i += stretch) {
    const std::int64_t count = outer.count - i < stretch ? outer.count - i : stretch;
    copy_rows(to + i * outer.to, from + i * outer.from, inner, Loop{count, outer.to, outer.from}, copy);
  }
}

struct Loops {
  Bytes to;
  ConstBytes from;
  const Loop& outer;
  const Loop& inner;

  template <class Copy>
  HWY_NOINLINE void operator()(const Copy& copy) const {
    constexpr std::int64_t few = 8;
    const std::int64_t bytes = copy.bytes();
    const bool tiles = bytes < 64 && outer.count >= 4 && inner.count >= 4;
    if (tiles && inner.to == bytes && outer.from == bytes)
      return transpose(to, from, Matrix{outer.count, inner.count, outer.to, inner.from}, copy);
    if (tiles && outer.to == bytes && inner.from == bytes)
      return transpose(to, from, Matrix{inner.count, outer.count, inner.to, outer.from}, copy);
    if (inner.count < few && outer.count > inner.count) return copy_short_rows(to, from, outer, inner, copy);
    copy_rows(to, from, outer, inner, copy);
  }
};

template <class Displacement, class Copy>
HWY_NOINLINE void gather_with(Bytes packed, ConstBytes memory, const Displacement* HWY_RESTRICT displacements,
                              std::int64_t count, Reach reach, const Copy copy) {
  constexpr std::int64_t ahead = 16;
  const std::int64_t asked = reach == Reach::far && count > ahead ? count - ahead : 0;
  std::int64_t i = 0;
  for (; i < asked; ++i) {
    const std::byte* const next = memory + displacements[i + ahead];
    __builtin_prefetch(next);
    if (copy.bytes() > 8) __builtin_prefetch(next + copy.bytes() - 1);
    copy(packed + i * copy.bytes(), memory + displacements[i]);
  }
  for (; i + 4 <= count; i += 4)
    for (std::int64_t k = i; k < i + 4; ++k) copy(packed + k * copy.bytes(), memory + displacements[k]);
  for (; i < count; ++i) copy(packed + i * copy.bytes(), memory + displacements[i]);
}

template <class Displacement, class Copy>
HWY_NOINLINE void scatter_with(Bytes memory, ConstBytes packed,
                               const Displacement* HWY_RESTRICT displacements, std::int64_t count,
                               Reach reach, const Copy copy) {
  constexpr std::int64_t ahead = 16;
  const std::int64_t asked = reach == Reach::far && count > ahead ? count - ahead : 0;
  std::int64_t i = 0;
  for (; i < asked; ++i) {
    __builtin_prefetch(memory + displacements[i + ahead], 1);
    copy(memory + displacements[i], packed + i * copy.bytes());
  }
  for (; i < count; ++i) copy(memory + displacements[i], packed + i * copy.bytes());
}

template <class Displacement>
struct Gather {
  Bytes packed;
  ConstBytes memory;
  const Displacement* displacements;
  std::int64_t count;
  Reach reach;

  template <class Copy>
  HWY_INLINE void operator()(const Copy& copy) const {
    gather_with(packed, memory, displacements, count, reach, copy);
  }
};

template <class Displacement>
struct Scatter {
  Bytes memory;
  ConstBytes packed;
  const Displacement* displacements;
  std::int64_t count;
  Reach reach;

  template <class Copy>
  HWY_INLINE void operator()(const Copy& copy) const {
    scatter_with(memory, packed, displacements, count, reach, copy);
  }
};

inline void loops(std::byte* to, const std::byte* from, Loop outer, Loop inner, std::int64_t bytes) {
  with_copy(bytes, Loops{to, from, outer, inner});
}

template <class Displacement>
void gather(std::byte* packed, const std::byte* memory, const Displacement* displacements, std::int64_t count,
            std::int64_t bytes, Reach reach) {
  with_copy(bytes, Gather<Displacement>{packed, memory, displacements, count, reach});
}

template <class Displacement>
void scatter(std::byte* memory, const std::byte* packed, const Displacement* displacements,
             std::int64_t count, std::int64_t bytes, Reach reach) {
  with_copy(bytes, Scatter<Displacement>{memory, packed, displacements, count, reach});
}

constexpr std::int64_t blocks_ahead = 8;

inline void gather_blocks(std::byte* packed, const std::byte* memory, const ByteBlock* blocks,
                          std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + blocks_ahead < count) __builtin_prefetch(memory + blocks[i + blocks_ahead].displacement);
    copy_any(packed, memory + blocks[i].displacement, blocks[i].bytes);
    packed += blocks[i].bytes;
  }
}

inline void scatter_blocks(std::byte* memory, const std::byte* packed, const ByteBlock* blocks,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + blocks_ahead < count) __builtin_prefetch(memory + blocks[i + blocks_ahead].displacement, 1);
    copy_any(memory + blocks[i].displacement, packed, blocks[i].bytes);
    packed += blocks[i].bytes;
  }
}

}  // namespace wherry::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
