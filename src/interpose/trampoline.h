// clang-format off: assembly, which clang-format takes for C
/* How an exported MPI name jumps to its slot, per architecture. Only the assembler reads this.
 *
 * A jump leaves every argument register, the stack and the return address as the caller made them, so one trampoline
 * serves any signature of any MPI. A slot starts out pointing to a stub that resolves it. */
#include "interpose/control.h"

#if !defined(__x86_64__) || !defined(__linux__)
#error "Wherry's trampolines exist for x86-64 Linux; write these macros for your machine (the rest is portable)"
#endif

  .text

/* name: what programs call. index: of its slot. */
.macro ENTRY name, index
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  jmp *wherry_slots + 8 * \index(%rip)
  .size \name, . - \name
.endm

/* As ENTRY, but levels with Wherry's tag go to wherry_control, once a backend has set it. */
.macro CONTROL name, index
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  mov %edi, %r11d
  shr $16, %r11d
  cmp $WHERRY_CONTROL_TAG, %r11d
  jne 1f
  mov wherry_control(%rip), %r11
  test %r11, %r11
  je 1f
  jmp *%r11
1:
  jmp *wherry_slots + 8 * \index(%rip)
  .size \name, . - \name
.endm

/* A Fortran name: notes where it was called from, since the C function will be called by the MPI library's Fortran
 * bindings. r10 and r11 carry no arguments. */
.macro FORTRAN_ENTRY name, index
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  mov (%rsp), %r10
  mov wherry_fortran_site@gottpoff(%rip), %r11
  mov %r10, %fs:(%r11)
  jmp *wherry_fortran_slots + 8 * \index(%rip)
  .size \name, . - \name
.endm

/* Saves all argument registers, asks \resolver for the address that belongs to the index on the stack, and goes there.
 * At entry the stack holds the index and the return address, and is aligned to 16. */
.macro RESOLVING label, resolver
  .p2align 4
\label:
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  sub $128, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov 192(%rsp), %rdi
  call \resolver
  mov %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  add $8, %rsp
  jmp *%r11
.endm

RESOLVING wherry_resolve_entry, wherry_resolve
RESOLVING wherry_resolve_fortran_entry, wherry_resolve_fortran

.macro SLOTS name
  .data
  .globl \name
  .hidden \name
  .p2align 3
\name:
.endm

.macro SLOT_OF index, entry
  .text
2:
  push $\index
  jmp \entry
  .data
  .quad 2b
.endm

.macro SLOT index
  SLOT_OF \index, wherry_resolve_entry
.endm

.macro FORTRAN_SLOT index
  SLOT_OF \index, wherry_resolve_fortran_entry
.endm

  .hidden wherry_resolve
  .hidden wherry_resolve_fortran
  .hidden wherry_control
  .hidden wherry_fortran_site
