// The memory of the machine, and what a page of it costs. Reads /proc and the cgroup without malloc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wherry::heap {

struct MachineMemory {
  std::uint64_t total = 0;      // bytes that this process' group may have at most; 0: unknown
  std::uint64_t available = 0;  // of these, what is not needed now
};
/// Where the system says so; tests have files of their own.
struct SystemFiles {
  const char* proc = "/proc";
  const char* cgroups = "/sys/fs/cgroup";
};
MachineMemory machine_memory(const SystemFiles& files = {});

/// Whether what is not used counts against what others may have: vm.overcommit_memory=2.
bool overcommit_is_strict(const SystemFiles& files = {});
/// Whether the process locks its memory (mlockall): what is kept then stays in the machine's.
bool is_locked(const SystemFiles& files = {});

/// What malloc may keep for each of so many processes: an eighth of their share, at most 256 MiB. 0: too little to be
/// of use.
std::size_t keepable(const MachineMemory& memory, int processes);

/// Whether so little is left that what is kept should go.
bool is_short(const MachineMemory& memory);

/// Nanoseconds for a page fault on fresh memory: the mean of eight, the least of four such means, for others disturb
/// some.
double measured_fault_ns();

}  // namespace wherry::heap
