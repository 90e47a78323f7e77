// Compiled once for each set of instructions. Of Highway only headers are used: its library, which would say what the
// processor has, would be one more that every preloaded program loads. Without Highway the compiler's own set is the
// only one.
#include "layout/kernels.hpp"

#ifdef WHERRY_HIGHWAY
// What the others have beyond these is nothing for copies. The compiler's own set is always among them.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layout/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#else
#define HWY_NAMESPACE N_COMPILER
#define HWY_BEFORE_NAMESPACE() static_assert(true)
#define HWY_AFTER_NAMESPACE() static_assert(true)
#define HWY_INLINE inline __attribute__((always_inline))
#define HWY_NOINLINE __attribute__((noinline))
#define HWY_RESTRICT __restrict__
#define HWY_ONCE 1
#endif

#include "layout/loops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace wherry::layout::HWY_NAMESPACE {

extern const Kernels table;
const Kernels table{
#ifdef WHERRY_HIGHWAY
    hwy::TargetName(HWY_TARGET),
#else
    "compiler's",
#endif
    loops,
    {gather<std::int32_t>, scatter<std::int32_t>},
    {gather<std::int64_t>, scatter<std::int64_t>},
    gather_blocks,
    scatter_blocks};

}  // namespace wherry::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::layout {
namespace {

struct Row {
  const Kernels* kernels;
  bool runs;
};

/// The worst first.
struct Rows {
  const Kernels* runnable[3] = {};
  std::size_t count = 0;

  Rows() {
#ifdef WHERRY_HIGHWAY
    // The sets that Highway's headers name for each.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") &&
                      __builtin_cpu_supports("pclmul");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd");  // which newer versions of Highway use as well
    // The code that runs once is compiled with the compiler's own set.
    for (const Row& row :
         {Row{&HWY_NAMESPACE::table, true}, Row{&N_AVX2::table, avx2}, Row{&N_AVX3::table, avx512}})
      if (row.runs) runnable[count++] = row.kernels;
#else
    runnable[count++] = &HWY_NAMESPACE::table;
#endif
  }
};

const Rows& rows() {
  static const Rows rows;
  return rows;
}

}  // namespace

const Kernels& kernels() { return *rows().runnable[rows().count - 1]; }

std::span<const Kernels* const> runnable_kernels() { return {rows().runnable, rows().count}; }

}  // namespace wherry::layout
#endif
