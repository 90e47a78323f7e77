#include "waiting/host.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/own_errno.hpp"

namespace wherry::waiting {

namespace {

// Of a hundredth of a second: below, nobody has computed.
constexpr long least_ticks = 10;

/// As far as it can be read: a thread or a process may end meanwhile.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) text += line + '\n';
  return text;
}

/// A whole number at the start of the text; 0: none.
long number_in(std::string_view text) {
  long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max(value, 0L);
}

/// Tasks of a step of srun on one of its nodes. tasks: of all, as Slurm writes them: "4(x2),3" are 4, 4 and 3.
long tasks_on(long node, std::string_view tasks) {
  while (!tasks.empty()) {
    const std::string_view group = tasks.substr(0, tasks.find(','));
    const std::size_t times = group.find("(x");
    node -= times == std::string_view::npos ? 1 : number_in(group.substr(times + 2));
    if (node < 0) return number_in(group);
    tasks.remove_prefix(std::min(group.size() + 1, tasks.size()));
  }
  return 0;
}

/// The group that /proc/self/cgroup names for a controller; version 2 has one for all, and an empty name.
std::string group_of(const std::string& groups, std::string_view controller) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const auto names = line.find(':'), path = line.find(':', names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    const std::string listed = "," + line.substr(names + 1, path - names - 1) + ",";
    if (listed.find("," + std::string(controller) + ",") != std::string::npos) return line.substr(path + 1);
  }
  return {};
}

double ratio(long quota, long period) {
  return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : 0;
}

/// Clock ticks, by a text like /proc/self/stat: the name of the thread, in parentheses, may hold anything.
long processor_ticks(const std::string& stat) {
  const auto name = stat.rfind(')');
  if (name == std::string::npos) return 0;
  std::istringstream rest(stat.substr(name + 1));
  constexpr int before = 11;  // fields between the name and the two
  std::string skipped;
  for (int i = 0; i < before; ++i) rest >> skipped;
  long user = 0, system = 0;
  rest >> user >> system;
  return user + system;
}

/// "max 100000" or "150000 100000"
double quota_of_version_2(const std::string& folder) {
  const std::string text = text_of(folder + "/cpu.max");
  const auto space = text.find(' ');
  return space == std::string::npos
             ? 0
             : ratio(number_in(text), number_in(std::string_view(text).substr(space + 1)));
}

double quota_of_version_1(const std::string& folder) {
  return ratio(number_in(text_of(folder + "/cpu.cfs_quota_us")),
               number_in(text_of(folder + "/cpu.cfs_period_us")));
}

/// The least of a group and those that it is in. In a container the file system may show its own group as the root.
template <class Quota>
double least_quota(const std::string& root, std::string group, const Quota& quota) {
  double least = 0;
  for (;;) {
    const double here = quota(root + group);
    if (here > 0) least = least > 0 ? std::min(least, here) : here;
    if (group.empty() || group == "/") return least;
    group.erase(group.rfind('/'));
  }
}

/// The beginning of a file; empty: it cannot be read. Allocates nothing, keeps no descriptor and leaves errno alone:
/// all that is the program's.
template <std::size_t size>
std::string_view read_small(const char* path, char (&text)[size]) {
  const OwnErrno own;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? -1 : ::read(file, text, size);
  if (file >= 0) ::close(file);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(read, 0))};
}

std::uint64_t nanoseconds(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_usec) * 1000;
}

}  // namespace

int count(const Processors& processors) {
  int all = 0;
  for (const std::uint64_t word : processors) all += std::popcount(word);
  return all;
}

Processors allowed_processors() {
  Processors found{};
  static_assert(sizeof(unsigned long) == sizeof found[0]);
  // The system call: it says how much it has written, and refuses only a machine with more processors than these.
  const long bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof found, found.data());
  return bytes > 0 ? found : Processors{};
}

double cores_by_quota(const std::string& root, const std::string& groups) {
  const double second = least_quota(root, group_of(groups, ""), quota_of_version_2);
  return second > 0 ? second : least_quota(root + "/cpu", group_of(groups, "cpu"), quota_of_version_1);
}

int ranks_on_host(const VariableReader& read) {
  // Open MPI's; Hydra's of MPICH and Intel; Cray's; MVAPICH's. Below, Slurm's srun.
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"})
    if (const char* value = read(name); value != nullptr) return static_cast<int>(number_in(value));
  const char* const tasks = read("SLURM_STEP_TASKS_PER_NODE");
  const char* const node = read("SLURM_NODEID");
  return tasks != nullptr && node != nullptr ? static_cast<int>(tasks_on(number_in(node), tasks)) : 0;
}

std::uint64_t host_number() {
  const std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  return boot.empty() ? 0 : std::hash<std::string>{}(boot);
}

double cores_of(const Processors& processors) {
  const double cores = count(processors);
  const double quota = cores_by_quota("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  return quota > 0 && quota < cores ? quota : cores;
}

int computing_threads(const std::string& folder) {
  std::vector<long> ticks;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder, error), end; !error && thread != end;
       thread.increment(error))
    ticks.push_back(processor_ticks(text_of(thread->path() / "stat")));
  const long most = ticks.empty() ? 0 : *std::ranges::max_element(ticks);
  if (most < least_ticks) return 0;
  return static_cast<int>(std::ranges::count_if(ticks, [=](long own) { return 10 * own >= most; }));
}

std::optional<std::uint64_t> run_queue_delay_ns(std::string_view schedstat) {
  std::uint64_t run = 0, delay = 0;
  const char* const end = schedstat.data() + schedstat.size();
  const auto [after_run, error] = std::from_chars(schedstat.data(), end, run);
  if (error != std::errc{} || run == 0 || after_run == end) return std::nullopt;
  if (std::from_chars(after_run + 1, end, delay).ec != std::errc{}) return std::nullopt;
  return delay;
}

Counters counters_now(bool with_delay) {
  Counters now;
  timespec wall{};
  rusage used{};
  if (::clock_gettime(CLOCK_MONOTONIC, &wall) == 0)
    now.wall_ns =
        static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(wall.tv_nsec);
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    now.cpu_ns = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
    now.involuntary = static_cast<std::uint64_t>(used.ru_nivcsw);
  }
  if (!with_delay) return now;
  char text[64];
  if (const auto delay = run_queue_delay_ns(read_small("/proc/thread-self/schedstat", text))) {
    now.delay_ns = *delay;
    now.thread = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  }
  return now;
}

}  // namespace wherry::waiting
