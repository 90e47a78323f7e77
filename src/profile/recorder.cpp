#include "profile/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>

#include "profile/program.hpp"
#include "profile/sampling.hpp"

namespace wherry::profile {
namespace {

// A program that makes and frees communicators without end must not fill the disk; later ones count as `none`.
constexpr std::uint32_t comms_max = 4096;
constexpr std::uint32_t calls_max = 1U << 18;  // 16 MiB
constexpr std::uint32_t decisions_max = 1U << 14;
constexpr std::uint32_t gains_max = 64;

/// Cuts to fit, at a character of UTF-8, and ends with a zero byte.
template <std::size_t N>
void put(char (&to)[N], std::string_view text) {
  std::size_t length = std::min(text.size(), N - 1);
  if (length < text.size())
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, N - length);
}

template <std::size_t N>
bool equals(const char (&stored)[N], std::string_view text) {
  return std::string_view(stored) == text.substr(0, N - 1);
}

std::string read_line(const char* path) {
  char line[128] = "";
  if (std::FILE* file = std::fopen(path, "re")) {
    if (std::fgets(line, sizeof line, file) == nullptr) line[0] = '\0';
    std::fclose(file);
  }
  line[std::strcspn(line, "\n")] = '\0';
  return line;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

void fill(Header& h, const Identity& identity) {
  h.rank = identity.rank;
  h.size = identity.size;
  h.thread_level = identity.thread_level;
  h.state = State::running;
  h.pid = static_cast<std::uint64_t>(::getpid());
  h.init_ns = h.end_ns = monotonic_ns();
  h.start_ns = identity.start_ns != 0 ? identity.start_ns : h.init_ns;
  h.realtime_ns = realtime_ns() - (h.init_ns - h.start_ns);
  h.last_call = none;
  for (CallUnderWay& call : h.under_way) call.function = CallUnderWay::none;
  put(h.host, host_name());
  put(h.boot_id, read_line("/proc/sys/kernel/random/boot_id"));
  put(h.abi, identity.abi);
  put(h.mpi_version, identity.mpi_version);
  put(h.program, own_program_name());
}

}  // namespace

std::string Recorder::open(const std::string& directory, const std::string& name, const Identity& identity,
                           const std::vector<FunctionRecord>& functions) {
  if (std::string problem = file_.open(directory, name); !problem.empty()) return problem;
  fill(file_.header(), identity);
  for (const FunctionRecord& f : functions)
    if (auto* record = file_.append<FunctionRecord>(Table::functions)) *record = f;
  latest_.resize(functions.size());
  return {};
}

std::uint32_t Recorder::call(const CallEvent& event) {
  if (!is_open()) return none;
  if (event.stands_for != 0) file_.header().end_ns = event.leave_ns;
  const std::uint32_t bucket = bucket_of(event.bytes);
  const std::uint32_t row = row_of(event, bucket);
  set_last_row(row);
  if (row == none) return file_.drop(Table::calls), none;
  auto& record = file_.at<CallRecord>(Table::calls, row);
  const std::uint64_t time_ns = event.leave_ns - event.enter_ns;
  ++record.count;
  record.bytes += event.bytes;
  record.time_ns += event.stands_for * time_ns;
  record.longest_ns = std::max(record.longest_ns, time_ns);
  record.derived += event.derived;
  return row;
}

void Recorder::more(const MoreCalls& calls) {
  if (!is_open()) return;
  if (calls.row != none) {
    auto& record = file_.at<CallRecord>(Table::calls, calls.row);
    record.count += calls.calls;
    record.bytes += calls.calls * calls.bytes;
    file_.at<FunctionRecord>(Table::functions, record.function).counted += calls.calls;
  }
  if (calls.use != none) {
    auto& record = file_.at<UseRecord>(Table::uses, calls.use);
    record.calls += calls.calls;
    record.bytes += calls.calls * calls.use_bytes;
  }
}

void Recorder::counted(const CountedCalls& calls) {
  if (!is_open() || calls.row == none) return;
  auto& record = file_.at<CallRecord>(Table::calls, calls.row);
  record.count += calls.calls;
  record.bytes += calls.bytes;
  record.time_ns += calls.time_ns;
  if (calls.derived) record.derived += calls.calls;
  file_.at<FunctionRecord>(Table::functions, record.function).counted += calls.calls;
}

std::uint32_t Recorder::row_of(const CallEvent& event, std::uint32_t bucket) {
  const CallKey key{event.place, event.comm, event.function << 8 | bucket};
  Latest& latest = latest_[event.function];
  if (latest.row != none && latest.key == key) [[likely]]
    return latest.row;
  const std::uint32_t* const known = rows_.find(key);
  latest = {key, known != nullptr ? *known : rows_.insert(key, add_row(event, bucket))};
  return latest.row;
}

std::uint32_t Recorder::add_row(const CallEvent& event, std::uint32_t bucket) {
  copy_modules();
  if (file_.used(Table::calls) >= calls_max) return none;
  auto* record = file_.append<CallRecord>(Table::calls);
  if (record == nullptr) return none;
  const Place& place = sites_.place(event.place);
  const bool known = place.module < file_.used(Table::modules);
  *record = {event.function, bucket, event.comm, known ? place.module : none, place.offset, 0, 0, 0, 0, 0};
  return file_.used(Table::calls) - 1;
}

// Modules keep their index: those found since the last row follow the earlier ones.
void Recorder::copy_modules() {
  if (!is_open()) return;
  const std::vector<Module>& modules = sites_.modules();
  for (std::size_t i = file_.used(Table::modules); i < modules.size(); ++i) {
    auto* record = file_.append<ModuleRecord>(Table::modules);
    if (record == nullptr) return;
    record->base = modules[i].base;
    put(record->path, modules[i].path);
  }
}

void Recorder::peer(int world_rank, PeerClass kind, std::uint64_t messages, std::uint64_t bytes) {
  if (!is_open() || world_rank < 0) return;
  const std::uint64_t key =
      std::uint64_t{static_cast<std::uint32_t>(world_rank)} << 2 | static_cast<std::uint32_t>(kind);
  const std::uint32_t* known = peers_.find(key);
  if (known == nullptr) {
    auto* made = file_.append<PeerRecord>(Table::peers);
    if (made != nullptr) *made = {world_rank, kind, 0, 0};
    known = &peers_.insert(key, made == nullptr ? none : file_.used(Table::peers) - 1);
  }
  if (*known == none) return file_.drop(Table::peers);
  auto& record = file_.at<PeerRecord>(Table::peers, *known);
  record.messages += messages;
  record.bytes += bytes;
}

std::uint32_t Recorder::comm(std::uint64_t key, int size, int rank, std::string_view name) {
  if (!is_open()) return none;
  if (file_.used(Table::comms) >= comms_max) return file_.drop(Table::comms), none;
  auto* record = file_.append<CommRecord>(Table::comms);
  if (record == nullptr) return none;
  record->key = key;
  record->size = size;
  record->rank = rank;
  put(record->name, name);
  return file_.used(Table::comms) - 1;
}

void Recorder::name_comm(std::uint32_t comm, std::string_view name) {
  if (is_open() && comm < file_.used(Table::comms)) put(file_.at<CommRecord>(Table::comms, comm).name, name);
}

std::string_view Recorder::comm_name(std::uint32_t comm) {
  if (!is_open() || comm >= file_.used(Table::comms)) return {};
  return file_.at<CommRecord>(Table::comms, comm).name;
}

void Recorder::arrival(std::uint32_t comm, std::uint32_t function, std::uint64_t sequence,
                       std::uint64_t enter_ns, std::uint64_t leave_ns) {
  if (!is_open() || !Sampling::is_multiple(sequence, arrival_stride_)) return;
  while (file_.used(Table::arrivals) == file_.capacity(Table::arrivals)) thin_arrivals();
  if (!Sampling::is_multiple(sequence, arrival_stride_)) return;
  if (auto* record = file_.append<ArrivalRecord>(Table::arrivals))
    *record = {comm, function, sequence, enter_ns, leave_ns};
}

/// Doubles the stride and keeps what lies on it. All ranks keep those whose hash is a multiple of a power of two, so
/// the records of ranks with different strides still meet. At least one record goes: else the oldest half does.
void Recorder::thin_arrivals() {
  arrival_stride_ *= 2;
  const std::uint32_t used = file_.used(Table::arrivals);
  auto* first = &file_.at<ArrivalRecord>(Table::arrivals, 0);
  auto* end = std::remove_if(first, first + used, [&](const ArrivalRecord& a) {
    return !Sampling::is_multiple(a.sequence, arrival_stride_);
  });
  if (end == first + used) end = std::move(first + used / 2, first + used, first);
  file_.truncate(Table::arrivals, static_cast<std::uint32_t>(end - first));
}

void Recorder::type(std::uint32_t combiner, std::string_view name, std::uint64_t bytes, std::uint64_t calls) {
  if (!is_open()) return;
  TypeRecord* record = nullptr;
  for (std::uint32_t i = 0; i < file_.used(Table::types) && record == nullptr; ++i)
    if (file_.at<TypeRecord>(Table::types, i).combiner == combiner)
      record = &file_.at<TypeRecord>(Table::types, i);
  if (record == nullptr) {
    record = file_.append<TypeRecord>(Table::types);
    if (record == nullptr) return;
    record->combiner = combiner;
    put(record->name, name);
  }
  record->count += calls;
  record->bytes += bytes;
}

namespace {

/// 64 mixed bits stand for a use: with the few hundred that a program has, two will not meet.
std::uint64_t key_of_use(const Subject& subject, std::string_view strategy) {
  const std::uint64_t kind = mix(std::uint64_t{subject.comm} << 32 | subject.function << 8 | subject.bucket);
  const std::uint64_t limited = mix(kind + static_cast<std::uint64_t>(subject.limit));
  return mix(limited ^ std::hash<std::string_view>{}(strategy));
}

}  // namespace

std::uint32_t Recorder::use(const Subject& subject, std::string_view strategy) {
  if (!is_open()) return none;
  const std::uint64_t key = key_of_use(subject, strategy);
  const std::uint32_t* const known = uses_.find(key);
  return known != nullptr ? *known : uses_.insert(key, add_use(subject, strategy));
}

void Recorder::used(const Subject& subject, std::string_view strategy, std::uint64_t bytes,
                    std::uint64_t time_ns) {
  if (is_open()) used_again(use(subject, strategy), bytes, time_ns);
}

void Recorder::used_again(std::uint32_t use, std::uint64_t bytes, std::uint64_t time_ns,
                          std::uint32_t stands_for) {
  if (!is_open()) return;
  if (use == none) return file_.drop(Table::uses);
  auto& record = file_.at<UseRecord>(Table::uses, use);
  ++record.calls;
  record.bytes += bytes;
  record.time_ns += stands_for * time_ns;
  if (stands_for != 0) record.shortest_ns = std::min(record.shortest_ns, time_ns);
}

void Recorder::polled(std::uint32_t function, std::uint32_t calls) {
  if (is_open() && function < file_.used(Table::functions))
    file_.at<FunctionRecord>(Table::functions, function).polled = calls;
}

void Recorder::threads(int threads, int processors) {
  constexpr int most = std::numeric_limits<std::uint16_t>::max();
  if (!is_open()) return;
  file_.header().threads = static_cast<std::uint16_t>(std::min(threads, most));
  file_.header().processors = static_cast<std::uint16_t>(std::min(processors, most));
}

std::uint32_t Recorder::add_use(const Subject& subject, std::string_view strategy) {
  auto* record = file_.append<UseRecord>(Table::uses);
  if (record == nullptr) return none;
  *record = {subject.comm, subject.function, subject.bucket, subject.limit, 0, 0, 0, ~std::uint64_t{0}, {}};
  put(record->strategy, strategy);
  return file_.used(Table::uses) - 1;
}

void Recorder::decided(const Subject& subject, std::uint32_t call, std::string_view strategy, Reason reason,
                       std::uint64_t time_ns, std::uint64_t native_ns) {
  if (!is_open()) return;
  if (file_.used(Table::decisions) >= decisions_max) return file_.drop(Table::decisions);
  auto* record = file_.append<DecisionRecord>(Table::decisions);
  if (record == nullptr) return;
  *record = {monotonic_ns(), subject.comm,  subject.function, subject.bucket, call,
             reason,         subject.limit, time_ns,          native_ns,      {}};
  put(record->strategy, strategy);
}

void Recorder::compared(const GainRecord& gain) {
  if (!is_open()) return;
  for (std::uint32_t i = 0; i < file_.used(Table::gains); ++i) {
    auto& row = file_.at<GainRecord>(Table::gains, i);
    if (row.comm == gain.comm) return void(row = gain);
  }
  if (file_.used(Table::gains) >= gains_max) return file_.drop(Table::gains);
  if (auto* record = file_.append<GainRecord>(Table::gains)) *record = gain;
}

void Recorder::fell_back(std::uint32_t function, std::string_view reason, std::uint64_t calls) {
  if (!is_open()) return;
  const std::uint32_t used = file_.used(Table::misses);
  for (std::uint32_t i = 0; i < used; ++i) {
    // From the last one that was found: calls repeat.
    const std::uint32_t at = (latest_miss_ + i) % used;
    auto& row = file_.at<MissRecord>(Table::misses, at);
    if (row.function != function || !equals(row.reason, reason)) continue;
    latest_miss_ = at;
    return void(row.count += calls);
  }
  auto* record = file_.append<MissRecord>(Table::misses);
  if (record == nullptr) return;
  record->function = function;
  record->count = calls;
  put(record->reason, reason);
}

std::uint32_t Recorder::window(const WindowRecord& window) {
  auto* const record = is_open() ? file_.append<WindowRecord>(Table::windows) : nullptr;
  if (record == nullptr) return none;
  *record = window;
  return file_.used(Table::windows) - 1;
}

void Recorder::not_cached(const NotCachedRecord& part) {
  if (auto* record = file_.append<NotCachedRecord>(Table::not_cached)) *record = part;
}

void Recorder::window_point(const WindowPointRecord& point) {
  if (auto* record = file_.append<WindowPointRecord>(Table::window_points)) *record = point;
}

void Recorder::window_curve(const WindowCurveRecord& point) {
  if (auto* record = file_.append<WindowCurveRecord>(Table::window_curves)) *record = point;
}

void Recorder::memory(std::uint32_t row, const MemoryRecord& span, std::string_view why_not) {
  if (!is_open()) return;
  while (file_.used(Table::memory) <= row)
    if (file_.append<MemoryRecord>(Table::memory) == nullptr) return;
  auto& record = file_.at<MemoryRecord>(Table::memory, row);
  record = span;
  put(record.why_not, why_not);
}

void Recorder::wait_trial(const WaitTrialRecord& trial) {
  if (!is_open()) return;
  if (file_.used(Table::wait_trials) == 0 && file_.append<WaitTrialRecord>(Table::wait_trials) == nullptr)
    return;
  file_.at<WaitTrialRecord>(Table::wait_trials, 0) = trial;
}

void Recorder::finish(State state) {
  if (!is_open()) return;
  file_.header().end_ns = monotonic_ns();
  file_.header().state = state;
}

}  // namespace wherry::profile
