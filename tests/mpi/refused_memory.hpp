// One rank that is refused memory for staging, as staging.cpp and reserved_memory.hpp ask for it. For one source file
// of a program.
#pragma once

#include <cstdlib>
#include <new>

#include "edge_bench.hpp"

namespace wherry::test {

// Nothing else in these programs is as large.
inline constexpr std::size_t refused_bytes = std::size_t{128} << 10;
inline bool refuses_memory = false;

/// What the last rank is refused while `body` runs.
template <class Body>
void while_refused(const Body& body) {
  refuses_memory = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  body();
  refuses_memory = false;
}

}  // namespace wherry::test

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  using namespace wherry::test;
  return refuses_memory && bytes >= refused_bytes ? nullptr : std::malloc(bytes);
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
