// Copies of blocks whose length the compiler knows, and of those whose length it does not. Included once for each set
// of instructions: no function of the standard library may be called that could be shared between them.
#if defined(WHERRY_LAYOUT_FIXED_COPY) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_LAYOUT_FIXED_COPY
#undef WHERRY_LAYOUT_FIXED_COPY
#else
#define WHERRY_LAYOUT_FIXED_COPY
#endif

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace wherry::layout::HWY_NAMESPACE {

using Bytes = std::byte* HWY_RESTRICT;
using ConstBytes = const std::byte* HWY_RESTRICT;

template <int Size>
struct FixedCopy {
  HWY_INLINE std::int64_t bytes() const { return Size; }
  HWY_INLINE void operator()(Bytes to, ConstBytes from) const { __builtin_memcpy(to, from, Size); }
};

/// Two copies of a fixed size that may overlap in the middle: Size to 2 * Size bytes.
template <int Size>
HWY_INLINE void copy_both_ends(Bytes to, ConstBytes from, std::int64_t bytes) {
  std::byte first[Size], last[Size];
  __builtin_memcpy(first, from, Size);
  __builtin_memcpy(last, from + bytes - Size, Size);
  __builtin_memcpy(to, first, Size);
  __builtin_memcpy(to + bytes - Size, last, Size);
}

/// 64 bytes and more; a call of memcpy pays from about half a kilobyte.
HWY_INLINE void copy_long(Bytes to, ConstBytes from, std::int64_t bytes) {
  if (bytes > 512) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t i = 0; i + 64 < bytes; i += 64) __builtin_memcpy(to + i, from + i, 64);
  __builtin_memcpy(to + bytes - 64, from + bytes - 64, 64);
}

HWY_INLINE void copy_any(Bytes to, ConstBytes from, std::int64_t bytes) {
  if (bytes > 64) copy_long(to, from, bytes);
  else if (bytes >= 32) copy_both_ends<32>(to, from, bytes);
  else if (bytes >= 16) copy_both_ends<16>(to, from, bytes);
  else if (bytes >= 8) copy_both_ends<8>(to, from, bytes);
  else if (bytes >= 4) copy_both_ends<4>(to, from, bytes);
  else
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

struct LongCopy {
  std::int64_t length;
  HWY_INLINE std::int64_t bytes() const { return length; }
  HWY_INLINE void operator()(Bytes to, ConstBytes from) const { copy_long(to, from, length); }
};

struct AnyCopy {
  std::int64_t length;
  HWY_INLINE std::int64_t bytes() const { return length; }
  HWY_INLINE void operator()(Bytes to, ConstBytes from) const { copy_any(to, from, length); }
};

/// Calls work(copy) with the copy for blocks of `bytes`: lengths of one to four elements of 1, 2, 4 and 8 bytes, and
/// the multiples of 8 up to 64, are compiled in.
template <class Work>
HWY_INLINE void with_copy(std::int64_t bytes, const Work& work) {
  switch (bytes) {
#define WHERRY_FIXED(size) \
  case size: return work(FixedCopy<size>());
    WHERRY_FIXED(1)
    WHERRY_FIXED(2)
    WHERRY_FIXED(3)
    WHERRY_FIXED(4)
    WHERRY_FIXED(5)
    WHERRY_FIXED(6)
    WHERRY_FIXED(7)
    WHERRY_FIXED(8)
    WHERRY_FIXED(9)
    WHERRY_FIXED(10)
    WHERRY_FIXED(12)
    WHERRY_FIXED(13)
    WHERRY_FIXED(16)
    WHERRY_FIXED(20)
    WHERRY_FIXED(24)
    WHERRY_FIXED(28)
    WHERRY_FIXED(32)
    WHERRY_FIXED(40)
    WHERRY_FIXED(48)
    WHERRY_FIXED(56)
    WHERRY_FIXED(64)
#undef WHERRY_FIXED
    default: break;
  }
  if (bytes > 64) work(LongCopy{bytes});
  else work(AnyCopy{bytes});
}

}  // namespace wherry::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
