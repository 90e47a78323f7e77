#include "heap/machine_memory.hpp"

#include <doctest/doctest.h>

using namespace wherry::heap;

TEST_CASE("machine memory: this machine has some") {
  const MachineMemory memory = machine_memory();
  CHECK(memory.total > std::uint64_t{64} << 20);
  CHECK(memory.available > 0);
  CHECK(memory.available <= memory.total);
}

TEST_CASE("machine memory: what malloc may keep follows the memory and the processes on it") {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  CHECK(keepable({64 * gib, 60 * gib}, 4) == gib / 4);
  CHECK(keepable({64 * gib, 60 * gib}, 128) == gib / 16);
  CHECK(keepable({64 * gib, 1 * gib}, 8) == gib / 16);  // the others have it
  CHECK(keepable({64 * gib, 60 * gib}, 4096) == 0);
  CHECK(keepable({0, 0}, 1) == 0);  // unknown
}

TEST_CASE("machine memory: short when less than a sixteenth is left") {
  CHECK(is_short({1600, 99}));
  CHECK(!is_short({1600, 101}));
  CHECK(!is_short({0, 0}));
}

TEST_CASE("machine memory: a page fault costs something") {
  CHECK(measured_fault_ns() >= 50);
  CHECK(measured_fault_ns() <= 5000);
}
