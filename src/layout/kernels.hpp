// Copies of many small blocks, compiled once for each set of instructions; the processor says at run time which it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/layout.hpp"

namespace wherry::layout {

/// A loop over blocks: how many, and how many bytes apart they are on each side.
struct Loop {
  std::int64_t count, to, from;
};

/// Whether the data reach over more than the caches hold, so that what is needed next is worth asking for.
enum class Reach { near, far };

template <class Displacement>
struct IndexedKernels {
  /// Block i of the packed bytes is at displacement[i] of memory.
  void (*gather)(std::byte* packed, const std::byte* memory, const Displacement* displacements,
                 std::int64_t count, std::int64_t bytes, Reach reach);
  void (*scatter)(std::byte* memory, const std::byte* packed, const Displacement* displacements,
                  std::int64_t count, std::int64_t bytes, Reach reach);
};

struct Kernels {
  const char* instructions;
  /// Blocks of `bytes`: block (i, j) from i * outer.from + j * inner.from to i * outer.to + j * inner.to. The order
  /// is the kernel's own, so no two blocks of `to` may overlap. Never writes between blocks; reads between those that
  /// are less than 32 bytes apart, which cannot fault, as a page that begins there has data in it.
  void (*loops)(std::byte* to, const std::byte* from, Loop outer, Loop inner, std::int64_t bytes);
  IndexedKernels<std::int32_t> indexed_32;
  IndexedKernels<std::int64_t> indexed_64;
  /// Blocks of any lengths, one after the other in the packed bytes.
  void (*gather_blocks)(std::byte* packed, const std::byte* memory, const ByteBlock* blocks,
                        std::int64_t count);
  void (*scatter_blocks)(std::byte* memory, const std::byte* packed, const ByteBlock* blocks,
                         std::int64_t count);
};

/// The best that this processor has.
const Kernels& kernels();

/// All that this processor can run, the best last.
std::span<const Kernels* const> runnable_kernels();

}  // namespace wherry::layout
