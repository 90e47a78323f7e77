// The floating-point environment is the program's: what Wherry computes for itself neither sees nor changes it.
//
// A program may trap exceptions (feenableexcept, gfortran's -ffpe-trap), round otherwise, or flush denormals to zero. A
// trap would kill it in Wherry's arithmetic; another rounding would make its ranks decide differently, which deadlocks.
// So decisions and statistics are computed in the default environment, and the program's is put back as it was, its
// flags included. MPI functions and reductions of the program's data run outside: there the program's environment
// counts, as it does natively.
//
// One exception: a hit in a cache (cache/policy.hpp, touch) adds to a float that is at least 1 times a power of two, and
// scales it, in the program's environment. That can raise inexact and nothing else; a program that traps inexact, which
// nearly every sum raises, must do without cached windows.
//
// On x86-64, double and float are computed by SSE, whose environment is the register MXCSR. Nothing here uses long
// double, whose environment is the x87 unit's.
#pragma once

#include <type_traits>

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace wherry {

/// The default environment as long as it lives. For a scope that takes its numbers from memory and leaves its results
/// there; where a value leaves in a register, use computed(), for the compiler may move arithmetic across this.
class OwnArithmetic {
 public:
  OwnArithmetic(const OwnArithmetic&) = delete;
  OwnArithmetic& operator=(const OwnArithmetic&) = delete;

#if defined(__SSE2__)
  OwnArithmetic() : programs_(_mm_getcsr()) {
    if ((programs_ & ~raised) != traps_masked) set(traps_masked);
    asm volatile("" : : : "memory");
  }
  ~OwnArithmetic() {
    asm volatile("" : : : "memory");
    if (_mm_getcsr() != programs_) set(programs_);
  }

 private:
  // To write the register takes ten times as long as to read it, and most programs compute in the default environment
  // and have rounded before: then nothing changes. Flags that are raised change no result.
  static constexpr unsigned raised = 0x3f;
  // All exceptions masked, no flag raised, to nearest, denormals as they are.
  static constexpr unsigned traps_masked = 0x1f80;

  static void set(unsigned csr) { asm volatile("ldmxcsr %0" : : "m"(csr) : "memory"); }

  unsigned programs_;
#else
  OwnArithmetic() {
    std::fegetenv(&programs_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~OwnArithmetic() { std::fesetenv(&programs_); }

 private:
  std::fenv_t programs_;
#endif
};

/// What f() returns, computed in the default environment. Out of line: nothing of it can be moved out.
template <class F>
[[gnu::noinline]] auto computed(const F& f) -> std::invoke_result_t<const F&> {
  struct Opaque {
    [[gnu::noinline]] static std::invoke_result_t<const F&> call(const F& f) { return f(); }
  };
  const OwnArithmetic arithmetic;
  return Opaque::call(f);
}

}  // namespace wherry
