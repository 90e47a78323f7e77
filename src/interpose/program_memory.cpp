#include "interpose/program_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "base/floating_point.hpp"
#include "base/own_errno.hpp"
#include "heap/machine_memory.hpp"
#include "waiting/host.hpp"

namespace wherry::interpose {
namespace {

constexpr std::uint64_t interval_ns = 2'000'000;          // a sample takes less than a thousandth of it
constexpr std::uint64_t check_interval_ns = 100'000'000;  // of the machine's memory, which takes 30 us

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_usec) * 1000U;
}

int processors() { return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

void ProgramMemory::configure(MemoryLever lever, bool watched) {
  lever_ = lever;
  watched_ = watched;
  active_ = watched || lever != MemoryLever::leave;
}

void ProgramMemory::read() {
  if (reading_.test_and_set(std::memory_order_acquire)) return;
  const std::uint64_t now_ns = profile::monotonic_ns();
  sampling_interval_.adapt(now_ns - std::exchange(read_ns_, now_ns));
  calls_to_read_.store(sampling_interval_.calls() - 1, std::memory_order_relaxed);
  reading_.clear(std::memory_order_release);
  if (is_due(now_ns)) take_sample(now_ns);
}

bool ProgramMemory::take_sample(std::uint64_t now_ns) {
  if (sampling_.test_and_set(std::memory_order_acquire)) return false;
  const OwnArithmetic arithmetic;
  const OwnErrno own;
  next_ns_.store(now_ns + interval_ns, std::memory_order_relaxed);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const std::uint64_t system = nanoseconds(usage.ru_stime), user = nanoseconds(usage.ru_utime);
  // The clock of the decision is processor time: what the program waits for others that have the processor is no
  // measure of what its faults cost. A stretch is long enough for a step of most programs.
  const heap::FaultSample sample = {system + user, static_cast<std::uint64_t>(usage.ru_minflt),
                                    static_cast<std::uint64_t>(usage.ru_maxrss) << 10,
                                    calls_.load(std::memory_order_relaxed)};
  if (begun_ && sample.at_ns < last_.at_ns + interval_ns) {
    sampling_.clear(std::memory_order_release);
    return true;
  }

  if (begun_) {
    add(sample);
    span_.system_ns += system - system_ns_;
    span_.user_ns += user - user_ns_;
  } else {
    begin();
    span_.start_ns = now_ns;
  }
  last_ = sample;
  system_ns_ = system;
  user_ns_ = user;
  if (why_not_.empty() && lever_ != MemoryLever::leave) act(wanted(sample), now_ns);
  if (!watched_ && !why_not_.empty()) active_ = false;  // nothing can follow, and nobody looks
  sampling_.clear(std::memory_order_release);
  return true;
}

void ProgramMemory::begin() {
  begun_ = true;
  const double fault_ns = heap::measured_fault_ns();
  decision_ = heap::FreedMemory(fault_ns, heap::in_programs);
  span_.fault_ns = static_cast<std::uint32_t>(fault_ns);
  why_not_ = heap::MallocOptions::why_not(::environ);
  if (!why_not_.empty()) return;
  const int ranks = waiting::ranks_on_host(read_variable);
  keepable_ = heap::keepable(heap::machine_memory(), ranks > 0 ? ranks : processors());
  if (keepable_ == 0) why_not_ = "the machine has too little memory";
}

void ProgramMemory::add(const heap::FaultSample& sample) {
  const heap::Stretch stretch = heap::between(last_, sample);
  span_.time_ns += stretch.time_ns;
  span_.faults += stretch.faults;
  span_.repeated += stretch.repeated;
  span_.calls += stretch.calls;
}

heap::Freed ProgramMemory::wanted(const heap::FaultSample& sample) {
  const bool kept = span_.state == static_cast<std::uint32_t>(heap::Freed::kept);
  if (kept) check(sample.at_ns);
  if (!why_not_.empty()) return decision_.give_up();
  return lever_ == MemoryLever::keep ? heap::Freed::kept : decision_.next(sample);
}

/// The machine's memory and the limits of the process, which may have changed.
void ProgramMemory::check(std::uint64_t now_ns) {
  if (now_ns < next_check_ns_) return;
  next_check_ns_ = now_ns + check_interval_ns;
  why_not_ = heap::is_short(heap::machine_memory()) ? "memory got short" : heap::MallocOptions::limited();
}

void ProgramMemory::act(heap::Freed wanted, std::uint64_t now_ns) {
  if (static_cast<std::uint32_t>(wanted) == span_.state) return;
  if (wanted != heap::Freed::kept) options_.take_back(!why_not_.empty());
  else if (!options_.keep(keepable_)) return void(why_not_ = "malloc refused");
  const std::uint32_t fault_ns = span_.fault_ns;
  span_ = {};
  span_.start_ns = now_ns;
  span_.state = static_cast<std::uint32_t>(wanted);
  span_.fault_ns = fault_ns;
  ++changes_;
}

}  // namespace wherry::interpose
