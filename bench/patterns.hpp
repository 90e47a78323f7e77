// The access patterns of applications: a datatype, and the loop that a programmer would write instead of it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pattern_types.hpp"

namespace bench {

/// One pattern: `count` elements of a type in `bytes` of memory. make: the type, not committed.
struct Pattern {
  std::string name;
  std::function<Type()> make;
  int count;
  std::size_t bytes;
  std::function<void(bool packing, std::byte* memory, std::byte* buffer)> hand;
};

/// Moves one value; the compiler knows its length.
template <bool packing, int size>
[[gnu::always_inline]] inline void move(std::byte* memory, std::byte*& buffer) {
  if constexpr (packing) std::memcpy(buffer, memory, size);
  else std::memcpy(memory, buffer, size);
  buffer += size;
}

/// The best set of instructions that the layout kernels are compiled for, too.
template <bool packing, class Loop>
[[gnu::target("avx2,bmi,bmi2,fma,avx512f,avx512vl,avx512dq,avx512bw"), gnu::noinline]] void run_avx512(
    const Loop& loop, std::byte* __restrict__ memory, std::byte* __restrict__ buffer) {
  loop.template run<packing>(memory, buffer);
}
template <bool packing, class Loop>
[[gnu::target("avx2,bmi,bmi2,fma"), gnu::noinline]] void run_avx2(const Loop& loop,
                                                                  std::byte* __restrict__ memory,
                                                                  std::byte* __restrict__ buffer) {
  loop.template run<packing>(memory, buffer);
}
template <bool packing, class Loop>
[[gnu::noinline]] void run_plainly(const Loop& loop, std::byte* __restrict__ memory,
                                   std::byte* __restrict__ buffer) {
  loop.template run<packing>(memory, buffer);
}

template <bool packing, class Loop>
void run_best(const Loop& loop, std::byte* memory, std::byte* buffer) {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    run_avx512<packing>(loop, memory, buffer);
  else if (__builtin_cpu_supports("avx2")) run_avx2<packing>(loop, memory, buffer);
  else run_plainly<packing>(loop, memory, buffer);
}

template <class Loop>
std::function<void(bool, std::byte*, std::byte*)> by_hand(Loop loop) {
  return [loop](bool packing, std::byte* memory, std::byte* buffer) {
    if (packing) run_best<true>(loop, memory, buffer);
    else run_best<false>(loop, memory, buffer);
  };
}

/// for i, j, k: a[i][j][k], of values of `size` bytes; strides in bytes.
template <int size>
struct Grid {
  long counts[3], strides[3];

  template <bool packing>
  [[gnu::always_inline]] void run(std::byte* memory, std::byte* buffer) const {
    for (long i = 0; i < counts[0]; ++i)
      for (long j = 0; j < counts[1]; ++j)
        for (long k = 0; k < counts[2]; ++k)
          move<packing, size>(memory + i * strides[0] + j * strides[1] + k * strides[2], buffer);
  }
};

/// for i, j: a row of `bytes`.
struct Rows {
  long counts[2], strides[2], bytes;

  template <bool packing>
  [[gnu::always_inline]] void run(std::byte* memory, std::byte* buffer) const {
    for (long i = 0; i < counts[0]; ++i)
      for (long j = 0; j < counts[1]; ++j, buffer += bytes) {
        std::byte* const row = memory + i * strides[0] + j * strides[1];
        if constexpr (packing) std::memcpy(buffer, row, static_cast<std::size_t>(bytes));
        else std::memcpy(row, buffer, static_cast<std::size_t>(bytes));
      }
  }
};

/// for each array, for i: array[ids[i]], of values of `size` bytes, `bytes` apart.
template <int size, int bytes = size>
struct ByIndex {
  std::vector<int> ids;
  std::vector<long> arrays;  // where each begins

  template <bool packing>
  [[gnu::always_inline]] void run(std::byte* memory, std::byte* buffer) const {
    for (const long array : arrays)
      for (const int id : ids) move<packing, size>(memory + array + long{id} * bytes, buffer);
  }
};

/// for i: the members of a struct of `extent` bytes, each a displacement and a size.
template <int extent, int... displacements_and_sizes>
struct Members {
  static constexpr int all[] = {displacements_and_sizes...};
  long count;
  template <bool packing>
  [[gnu::always_inline]] void run(std::byte* memory, std::byte* buffer) const {
    for (long i = 0; i < count; ++i, memory += extent)
      move_all<packing>(memory, buffer, std::make_index_sequence<std::size(all) / 2>());
  }

 private:
  template <bool packing, std::size_t... m>
  [[gnu::always_inline]] static void move_all(std::byte* memory, std::byte*& buffer,
                                              std::index_sequence<m...>) {
    (move<packing, all[2 * m + 1]>(memory + all[2 * m], buffer), ...);
  }
};

/// Several loops, each over memory of its own.
template <class Loop>
struct Several {
  std::vector<Loop> loops;
  std::vector<long> begins, packed;

  template <bool packing>
  [[gnu::always_inline]] void run(std::byte* memory, std::byte* buffer) const {
    for (std::size_t i = 0; i < loops.size(); ++i)
      loops[i].template run<packing>(memory + begins[i], buffer + packed[i]);
  }
};

/// So many of the ids below `below`, in random order.
inline std::vector<int> random_ids(int count, int below) {
  std::vector<int> ids(static_cast<std::size_t>(below));
  for (int i = 0; i < below; ++i) ids[static_cast<std::size_t>(i)] = i;
  std::ranges::shuffle(ids, std::mt19937(28));
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

/// All of them.
std::vector<Pattern> application_patterns();

}  // namespace bench
