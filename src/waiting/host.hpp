// What the system says of a process: the cores that it may use, and its counters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings.hpp"

#include "waiting/decision.hpp"

namespace wherry::waiting {

/// One bit for each processor of a machine; those beyond do not count.
using Processors = std::array<std::uint64_t, 32>;
int count(const Processors& processors);

/// Those that the caller's thread may run on; none: the system does not say.
Processors allowed_processors();

/// Cores that the file system of control groups at `root` ("/sys/fs/cgroup") allows this process, by cpu.max or
/// cfs_quota; 0: no limit, or not permitted to know. groups: the text of /proc/self/cgroup.
double cores_by_quota(const std::string& root, const std::string& groups);

/// Ranks that the launcher has started on this host, by its environment; 0: it does not say.
int ranks_on_host(const VariableReader& read);

/// Equal for processes under one kernel, which share its cores; 0: the system does not say.
std::uint64_t host_number();

/// Cores for the ranks of this host, which together may run on these processors, within what this process is allowed of
/// their time; 0: unknown.
double cores_of(const Processors& processors);

/// Threads whose processor time is at least a tenth of the busiest one's, by a folder like /proc/self/task; 0: it
/// cannot be read, or none has computed for a tenth of a second.
/// Those that serve the MPI library or a runtime sleep nearly all the time.
int computing_threads(const std::string& folder);

/// How long a thread could have run and had no core, by a text like /proc/thread-self/schedstat; none where the kernel
/// does not count it.
std::optional<std::uint64_t> run_queue_delay_ns(std::string_view schedstat);

/// Errors leave zeros. with_delay: that of the calling thread.
Counters counters_now(bool with_delay);

}  // namespace wherry::waiting
