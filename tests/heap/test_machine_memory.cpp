#include "heap/machine_memory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace wherry::heap;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

/// /proc and the file system of control groups, in a folder that goes with the test: a machine with 8 GiB, 4 of them
/// available.
class System {
 public:
  System() : root_(std::filesystem::temp_directory_path() / ("wherry-memory-" + std::to_string(::getpid()))) {
    write("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 100 kB\nMemAvailable: 4194304 kB\n");
  }
  ~System() { std::filesystem::remove_all(root_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  MachineMemory memory() const { return machine_memory(files()); }
  SystemFiles files() const { return {proc_.c_str(), cgroups_.c_str()}; }

 private:
  std::filesystem::path root_;
  std::string proc_ = root_ / "proc", cgroups_ = root_ / "cgroup";
};

}  // namespace

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

TEST_CASE("machine memory: what the system says without groups") {
  const System system;
  CHECK(system.memory().total == 8192 * mib);
  CHECK(system.memory().available == 4096 * mib);
  system.write("proc/self/cgroup", "0::/\n");
  CHECK(system.memory().total == 8192 * mib);
}

TEST_CASE("machine memory: a group of version 2, and those around it") {
  const System system;
  system.write("proc/self/cgroup", "0::/job/step\n");
  system.write("cgroup/job/step/memory.max", "max\n");
  system.write("cgroup/job/memory.max", std::to_string(1024 * mib));
  system.write("cgroup/job/memory.current", std::to_string(1000 * mib));
  CHECK(system.memory().total == 1024 * mib);
  CHECK(system.memory().available == 24 * mib);
  CHECK(is_short(system.memory()));
  system.write("cgroup/job/memory.stat",
               "anon 4096\nfile 838860800\ninactive_file 419430400\nactive_file 4096\n");
  CHECK(system.memory().available ==
        424 * mib);  // of files, the kernel takes back what nobody has read again
  system.write("cgroup/job/step/memory.max", std::to_string(512 * mib));
  system.write("cgroup/job/step/memory.current", std::to_string(600 * mib));
  CHECK(system.memory().total == 512 * mib);
  CHECK(system.memory().available == 0);
}

TEST_CASE("machine memory: a group of version 1, which has no bound unless one is set") {
  const System system;
  system.write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/job\n0::/\n");
  system.write("cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("cgroup/memory/job/memory.usage_in_bytes", std::to_string(10 * mib));
  CHECK(system.memory().total == 8192 * mib);
  CHECK(system.memory().available == 4096 * mib);
  system.write("cgroup/memory/job/memory.limit_in_bytes", std::to_string(256 * mib));
  CHECK(system.memory().total == 256 * mib);
  CHECK(system.memory().available == 246 * mib);
  system.write("cgroup/memory/job/memory.stat", "inactive_file 1048576\ntotal_inactive_file 4194304\n");
  CHECK(system.memory().available == 250 * mib);
  CHECK(keepable(system.memory(), 2) == 16 * mib);
  CHECK(keepable(system.memory(), 16) == 0);  // the bound cannot be met
}

TEST_CASE("machine memory: in a container the group's own files lie at the top") {
  const System system;
  system.write("proc/self/cgroup", "0::/not/to/be/seen\n");
  system.write("cgroup/memory.max", std::to_string(128 * mib));
  CHECK(system.memory().total == 128 * mib);
}

TEST_CASE("machine memory: what cannot be read is unknown") {
  const System system;
  system.write("proc/meminfo", "nonsense");
  CHECK(system.memory().total == 0);
  CHECK(keepable(system.memory(), 1) == 0);
  for (const char* text : {"", "nonsense", "0::", ":memory:", "0::/gone\n"}) {
    system.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
    system.write("proc/self/cgroup", text);
    CHECK(system.memory().total == 8192 * mib);
  }
}

TEST_CASE("machine memory: strict overcommit and locked memory") {
  const System system;
  CHECK_FALSE(overcommit_is_strict(system.files()));
  CHECK_FALSE(is_locked(system.files()));
  system.write("proc/sys/vm/overcommit_memory", "1\n");
  system.write("proc/self/status", "Name:\tapp\nVmLck:\t       0 kB\nVmPin:\t 8 kB\n");
  CHECK_FALSE(overcommit_is_strict(system.files()));
  CHECK_FALSE(is_locked(system.files()));
  system.write("proc/sys/vm/overcommit_memory", "2\n");
  system.write("proc/self/status", "Name:\tapp\nVmLck:\t    2048 kB\n");
  CHECK(overcommit_is_strict(system.files()));
  CHECK(is_locked(system.files()));
}
