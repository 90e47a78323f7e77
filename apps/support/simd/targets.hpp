// The sets of instructions that kernels are compiled for; to be included before Highway.
//
// Left out: vectors whose length is known only at run time, which cannot stand in arrays; those without double
// precision; and sets that have nothing for these kernels beyond another one.
#pragma once

#define HWY_DISABLED_TARGETS                                                                            \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM | HWY_WASM_EMU256 | HWY_SSSE3 | \
   HWY_AVX3_DL)
