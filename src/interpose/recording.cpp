// The backend's record: opened once the ranks are known, and what is written from time to time and at the end.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/backend.hpp"
#include "waiting/host.hpp"

namespace wherry::interpose {

namespace {

constexpr std::uint64_t settle_interval_ns =
    100'000'000;  // what a killed program may lose of the matrix of peers

std::vector<profile::FunctionRecord> function_records() {
  std::vector<profile::FunctionRecord> records;
  for (const FunctionRow& row : function_table()) {
    profile::FunctionRecord record{};
    std::snprintf(record.name, sizeof record.name, "%s", row.name);
    record.kind = row.kind;
    records.push_back(record);
  }
  return records;
}

/// The rank that the launcher gave this process; empty text if no launcher says.
std::string rank_from_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return {};
}

std::string file_name_of(int rank) {
  if (rank < 0) return "pid-" + std::to_string(::getpid());
  char name[32];
  std::snprintf(name, sizeof name, "rank-%06d", rank);
  return name;
}

std::string first_line_of_version(const mpi::Api& api) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  api.Get_library_version(text, &length);
  return std::string(text, std::strcspn(text, "\n"));
}

int to_number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' || value < 0 || value > INT_MAX ? -1 : static_cast<int>(value);
}

}  // namespace

bool Backend::open_record() {
  int initialized = 0;
  api_.Initialized(&initialized);
  profile::Identity identity;
  identity.rank = to_number(rank_from_environment());
  if (initialized != 0) {
    api_.Comm_rank(MPI_COMM_WORLD, &identity.rank);
    api_.Comm_size(MPI_COMM_WORLD, &identity.size);
    api_.Query_thread(&identity.thread_level);
    MPI_Group world = MPI_GROUP_NULL;
    api_.Comm_group(MPI_COMM_WORLD, &world);
    handles.set_base(world);
  } else if (handles.base() != MPI_GROUP_NULL) {
    queries_.Group_rank(handles.base(), &identity.rank);
    queries_.Group_size(handles.base(), &identity.size);
  } else if (sessions_ == 0) {
    return false;
  }
  identity.start_ns = start_ns_;
  identity.abi = core_.abi;
  identity.mpi_version = first_line_of_version(api_);
  const std::string problem =
      recorder.open(settings_.output, file_name_of(identity.rank), identity, function_records());
  state_ = problem.empty() ? Recording::open : Recording::off;
  if (!problem.empty()) std::fprintf(stderr, "wherry: %s; nothing is recorded\n", problem.c_str());
  if (problem.empty() && initialized != 0) {
    handles.comm(MPI_COMM_WORLD);
    handles.comm(MPI_COMM_SELF);
    if (identity.thread_level < MPI_THREAD_MULTIPLE) repeated.begin();
  }
  return problem.empty();
}

void Backend::settle(std::uint64_t now_ns) {
  memory.count();
  if (memory.is_due(now_ns)) record_memory(now_ns);
  if (now_ns < next_settle_ns_) return;
  next_settle_ns_ = now_ns + settle_interval_ns;
  repeated.settle();
  handles.settle();
}

void Backend::book_polled() {
  for (std::uint32_t i = 0; i < function_table().size(); ++i) recorder.polled(i, patience.polled(i));
}

void Backend::record_memory(std::uint64_t now_ns) {
  if (memory.look(now_ns)) recorder.memory(memory.changes(), memory.span());
}

void Backend::look_at_memory() {
  const std::uint64_t now_ns = profile::monotonic_ns();
  if (memory.is_due(now_ns)) memory.look(now_ns);
}

void Backend::finish_record() {
  repeated.end();
  handles.settle();
  book_polled();
  recorder.threads(waiting::computing_threads("/proc/self/task"),
                   waiting::count(waiting::allowed_processors()));
  record_memory(profile::monotonic_ns());
  recorder.finish();
}

}  // namespace wherry::interpose
