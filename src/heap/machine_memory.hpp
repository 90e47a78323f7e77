// The memory of the machine, and what a page of it costs. Reads /proc and the cgroup without malloc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wherry::heap {

struct MachineMemory {
  std::uint64_t total = 0;      // bytes that this process' group may have at most; 0: unknown
  std::uint64_t available = 0;  // of these, what is not needed now
};
MachineMemory machine_memory();

bool overcommit_is_strict();

/// What malloc may keep for each of so many processes: an eighth of their share, at most 256 MiB. 0: too little to be of use.
std::size_t keepable(const MachineMemory& memory, int processes);

/// Whether so little is left that what is kept should go.
bool is_short(const MachineMemory& memory);

/// Nanoseconds for a page fault on fresh memory: the mean of eight, the least of four such means, for others disturb some.
double measured_fault_ns();

}  // namespace wherry::heap
