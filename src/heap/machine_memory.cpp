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

constexpr std::size_t longest_path = 4096;

/// The beginning of a small file as text; empty if it cannot be read.
struct FileText {
  char text[4096] = "";
  FileText(const char* folder, const char* name) {
    char path[longest_path];
    if (std::snprintf(path, sizeof path, "%s/%s", folder, name) >= static_cast<int>(sizeof path)) return;
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
  return std::strtoull(FileText(folder, name).text, nullptr, 10);  // "max": 0
}

/// Of version 2, or of the memory controller of version 1.
struct Cgroup {
  char folder[longest_path];  // this process's
  std::size_t root = 0;       // how much of it is the file system's own folder
  const char* most = "memory.max";
  const char* used = "memory.current";
  const char* reclaimable = "\ninactive_file ";  // in memory.stat
};

/// False: none is found.
bool find_cgroup(const SystemFiles& files, Cgroup& group) {
  FileText groups(files.proc, "self/cgroup");
  const char* controller = "";
  char* at = std::strstr(groups.text, "0::/");
  if (char* const memory = std::strstr(groups.text, ":memory:/")) {
    at = memory + std::strlen("memory") - 1;
    controller = "/memory";
    group.most = "memory.limit_in_bytes";
    group.used = "memory.usage_in_bytes";
    group.reclaimable = "\ntotal_inactive_file ";
  }
  if (at == nullptr) return false;
  at += std::strlen("0::");
  at[std::strcspn(at, "\n")] = '\0';
  group.root = std::strlen(files.cgroups) + std::strlen(controller);
  const int length =
      std::snprintf(group.folder, sizeof group.folder, "%s%s%s", files.cgroups, controller, at);
  return length > 0 && static_cast<std::size_t>(length) < sizeof group.folder;
}

/// Of the group in that folder. Files that were read or written and lie in memory are counted as used, and are the
/// first to go.
std::uint64_t used_in(const Cgroup& group) {
  const std::uint64_t used = number_in(group.folder, group.used);
  return used - std::min(used, number_after(FileText(group.folder, "memory.stat").text, group.reclaimable));
}

/// A group has what those around it leave. Inside a container the group's own files lie at the top.
void limit_by_cgroup(MachineMemory& memory, const SystemFiles& files) {
  Cgroup group;
  if (!find_cgroup(files, group)) return;
  for (std::size_t length = std::strlen(group.folder);; --length) {
    const bool ends = length <= group.root;
    if (!ends && group.folder[length] != '\0' && group.folder[length] != '/') continue;
    group.folder[length] = '\0';
    const std::uint64_t limit = number_in(group.folder, group.most);
    if (limit != 0) {
      memory.available = std::min(memory.available, limit - std::min(limit, used_in(group)));
      memory.total = std::min(memory.total, limit);
    }
    if (ends) return;
  }
}

double now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace

MachineMemory machine_memory(const SystemFiles& files) {
  const FileText text(files.proc, "meminfo");
  MachineMemory memory{number_after(text.text, "MemTotal:") << 10, number_after(text.text, "MemAvailable:")
                                                                       << 10};
  if (memory.total != 0) limit_by_cgroup(memory, files);
  return memory;
}

bool overcommit_is_strict(const SystemFiles& files) {
  return FileText(files.proc, "sys/vm/overcommit_memory").text[0] == '2';
}

bool is_locked(const SystemFiles& files) {
  return number_after(FileText(files.proc, "self/status").text, "VmLck:") != 0;
}

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
