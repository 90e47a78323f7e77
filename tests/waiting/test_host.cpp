// What the system and the launcher say: read from files and environments of the test's own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "waiting/free_cores.hpp"
#include "waiting/host.hpp"

using namespace wherry::waiting;

namespace {

/// A file system of control groups in a folder that goes with the test.
class Groups {
 public:
  Groups() : root_(std::filesystem::temp_directory_path() / ("wherry-groups-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(root_);
  }
  ~Groups() { std::filesystem::remove_all(root_); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("the least quota of a group and those around it holds") {
  const Groups groups;
  groups.write("a/cpu.max", "400000 100000\n");
  groups.write("a/b/cpu.max", "max 100000\n");
  CHECK(cores_by_quota(groups.root(), "0::/a/b\n") == 4);
  groups.write("a/b/cpu.max", "150000 100000\n");
  CHECK(cores_by_quota(groups.root(), "0::/a/b\n") == 1.5);
  CHECK(cores_by_quota(groups.root(), "0::/a\n") == 4);
  CHECK(cores_by_quota(groups.root(), "0::/\n") == 0);
}

TEST_CASE("in a container the group's own files stand at the root") {
  const Groups groups;
  groups.write("cpu.max", "200000 100000");
  CHECK(cores_by_quota(groups.root(), "0::/not/to/be/seen\n") == 2);
}

TEST_CASE("version 1 has a file for each number") {
  const Groups groups;
  groups.write("cpu/job/cpu.cfs_quota_us", "300000\n");
  groups.write("cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(cores_by_quota(groups.root(), "4:memory:/job\n2:cpu,cpuacct:/job\n") == 3);
  groups.write("cpu/job/cpu.cfs_quota_us", "-1\n");
  CHECK(cores_by_quota(groups.root(), "2:cpu:/job\n") == 0);
}

TEST_CASE("what cannot be read is no limit") {
  const Groups groups;
  for (const char* text : {"", "nonsense", "0::", "::", "0::/x", "1:cpu:/x\n0::/y\n"})
    CHECK(cores_by_quota(groups.root(), text) == 0);
  groups.write("x/cpu.max", "");
  CHECK(cores_by_quota(groups.root(), "0::/x") == 0);
  groups.write("x/cpu.max", "100000");
  CHECK(cores_by_quota(groups.root(), "0::/x") == 0);
  groups.write("x/cpu.max", "100000 0");
  CHECK(cores_by_quota(groups.root(), "0::/x") == 0);
}

TEST_CASE("launchers say how many ranks a host has") {
  const auto in = [](const std::map<std::string, std::string>& variables) {
    return ranks_on_host([&](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  CHECK(in({}) == 0);
  CHECK(in({{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}) == 4);
  CHECK(in({{"MPI_LOCALNRANKS", "8"}}) == 8);
  CHECK(in({{"MPI_LOCALNRANKS", "many"}}) == 0);
  CHECK(in({{"MPI_LOCALNRANKS", "-3"}}) == 0);
  const auto slurm = [&](const std::string& tasks, const std::string& node) {
    return in({{"SLURM_STEP_TASKS_PER_NODE", tasks}, {"SLURM_NODEID", node}});
  };
  CHECK(slurm("8", "0") == 8);
  CHECK(slurm("4(x2),3", "0") == 4);
  CHECK(slurm("4(x2),3", "1") == 4);
  CHECK(slurm("4(x2),3", "2") == 3);
  CHECK(slurm("4(x2),3", "3") == 0);
  CHECK(slurm("", "0") == 0);
  CHECK(slurm(",,(x", "1") == 0);
  CHECK(in({{"SLURM_STEP_TASKS_PER_NODE", "8"}}) == 0);
}

TEST_CASE("this process has a processor and has used some time") {
  CHECK(count(allowed_processors()) >= 1);
  CHECK(cores_of(allowed_processors()) > 0);
  CHECK(cores_of(Processors{}) == 0);
  for (const bool with_delay : {false, true}) {
    errno = 42;
    const Counters now = counters_now(with_delay);
    CHECK(now.wall_ns > 0);
    CHECK(now.cpu_ns > 0);
    CHECK_FALSE((now.thread != 0 && !with_delay));
    CHECK(errno == 42);
  }
}

TEST_CASE("the time without a core is the second number; a kernel that counts nothing says so by the first") {
  CHECK(run_queue_delay_ns("83217608 19814705 56\n") == 19814705);
  CHECK(run_queue_delay_ns("83217608 0 56\n") == 0);
  for (const char* text : {"", "\n", "0 0 0\n", "83217608", "83217608 ", "83217608 x", "-1 5 6", "words"})
    CHECK_FALSE(run_queue_delay_ns(text).has_value());
}

TEST_CASE("threads that compute are those that have about as much processor time as the busiest") {
  const Groups tasks;
  const auto thread = [&](const char* number, const char* name, long user, long system) {
    tasks.write(std::string(number) + "/stat", std::string(number) + " (" + name +
                                                   ") R 1 1 1 0 -1 4194304 10 0 0 0 " + std::to_string(user) +
                                                   " " + std::to_string(system) + " 0 0 20 0 3 0 100\n");
  };
  thread("100", "app", 900, 100);
  thread("101", "a) b (c", 500, 20);
  thread("102", "progress", 3, 9);
  CHECK(computing_threads(tasks.root()) == 2);
  CHECK(computing_threads(tasks.root() + "/absent") == 0);
  tasks.write("100/stat", "100 (app) R 1 1 1 0 -1 4194304 10 0 0 0 4 5 0 0 20 0 3 0 100\n");
  tasks.write("101/stat", "cut");
  tasks.write("102/stat", "");
  CHECK(computing_threads(tasks.root()) == 0);
}

TEST_CASE("cores are free where each rank of the host has more than its threads need") {
  CHECK(free_cores(2, 1, 1) == 1);
  CHECK(free_cores(2, 1, 2) == 0);
  CHECK(free_cores(2, 2, 1) == 0);
  CHECK(free_cores(64, 4, 4) == 12);
  CHECK(free_cores(64, 4, 16) == 0);
  CHECK(free_cores(64, 4, 100) == 0);
  CHECK(free_cores(1.5, 1, 1) == 0);  // by a quota
  CHECK(free_cores(7, 3, 1) == 1);
  CHECK(free_cores(8, 1, 0) == 7);  // the caller runs, whatever the system says
  CHECK(free_cores(64, 0, 1) == 0);
  CHECK(free_cores(0, 1, 1) == 0);
}

TEST_CASE("threads that run are counted by their state") {
  const Groups tasks;
  CHECK(running_threads(tasks.root()) == 0);
  CHECK(running_threads(tasks.root() + "/nothing") == 0);
  tasks.write("1/stat", "1 (a) R 1 1 1");
  tasks.write("2/stat", "2 (b) S 1 1 1");
  tasks.write("3/stat", "3 (R) R) S 1 1 1");
  tasks.write("4/stat", "4 (c) x) R 1 1 1");
  tasks.write("5/stat", "");
  CHECK(running_threads(tasks.root()) == 2);
  CHECK(running_threads("/proc/self/task") >= 1);
}
