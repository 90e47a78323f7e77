/* Preloaded into a test's program, it lets invalid operations, divisions by zero and overflows end the program, as
 * OpenFOAM, PETSc's -fp_trap and -ffpe-trap do. Threads that are made later inherit that. */
#define _GNU_SOURCE
#include <fenv.h>

__attribute__((constructor)) static void trap(void) {
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
}
