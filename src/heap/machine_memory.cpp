#include "heap/machine_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace wherry::heap {
namespace {

/// The beginning of a small file as text; empty if it cannot be read.
struct FileText {
  char text[4096] = "";
  explicit FileText(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t got = ::read(file, text, sizeof text - 1);
    text[std::max<ssize_t>(got, 0)] = '\0';
    ::close(file);
  }
};

std::uint64_t number_after(const char* text, const char* key) {
  const char* const at = std::strstr(text, key);
  return at == nullptr ? 0 : std::strtoull(at + std::strlen(key), nullptr, 10);
}

std::uint64_t number_in(const char* folder, const char* name) {
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  return std::strtoull(FileText(path).text, nullptr, 10);  // "max": 0
}

/// The folder of this process' cgroup, of version 2 or of the memory controller of version 1; false: none is found.
bool cgroup_folder(char* folder, std::size_t size, bool& unified) {
  FileText groups("/proc/self/cgroup");
  unified = true;
  char* at = std::strstr(groups.text, "0::/");
  if (char* const memory = std::strstr(groups.text, ":memory:/")) {
    at = memory + 6;
    unified = false;
  }
  if (at == nullptr) return false;
  at += 3;
  at[std::strcspn(at, "\n")] = '\0';
  std::snprintf(folder, size, "/sys/fs/cgroup%s%.*s", unified ? "" : "/memory", 3000, at);
  return true;
}

/// Inside a container the group's own files lie at the top.
void limit_by_cgroup(MachineMemory& memory) {
  char folder[4096];
  bool unified = true;
  if (!cgroup_folder(folder, sizeof folder, unified)) return;
  const char* const most = unified ? "memory.max" : "memory.limit_in_bytes";
  const char* const used = unified ? "memory.current" : "memory.usage_in_bytes";
  for (const char* at :
       {static_cast<const char*>(folder), unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"}) {
    const std::uint64_t limit = number_in(at, most);
    if (limit == 0 || limit >= memory.total) continue;
    const std::uint64_t now = number_in(at, used);
    memory.total = limit;
    memory.available = std::min(memory.available, limit > now ? limit - now : 0);
  }
}

double now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace

MachineMemory machine_memory() {
  const FileText text("/proc/meminfo");
  MachineMemory memory{number_after(text.text, "MemTotal:") << 10, number_after(text.text, "MemAvailable:")
                                                                       << 10};
  if (memory.total != 0) limit_by_cgroup(memory);
  return memory;
}

bool overcommit_is_strict() { return FileText("/proc/sys/vm/overcommit_memory").text[0] == '2'; }

std::size_t keepable(const MachineMemory& memory, int processes) {
  constexpr std::uint64_t least = std::uint64_t{4} << 20, most = std::uint64_t{256} << 20;
  const std::uint64_t share =
      std::min(memory.total, 4 * memory.available) / 8 / static_cast<unsigned>(std::max(processes, 1));
  return share < least ? 0 : static_cast<std::size_t>(std::min(share, most));
}

bool is_short(const MachineMemory& memory) {
  return memory.total != 0 && memory.available < memory.total / 16;
}

double measured_fault_ns() {
  constexpr std::size_t page = 4096, pages = 32;
  void* const range =
      ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) return 0;
  constexpr std::size_t together = 8;
  double least = 1e9;
  for (std::size_t first = 0; first < pages; first += together) {
    const double begin = now_ns();
    for (std::size_t i = first; i < first + together; ++i) static_cast<volatile char*>(range)[i * page] = 1;
    least = std::min(least, now_ns() - begin);
  }
  ::munmap(range, pages * page);
  return std::clamp(least / together, 50.0, 5000.0);
}

}  // namespace wherry::heap
