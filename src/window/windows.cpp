#include "window/windows.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "comm/accelerator.hpp"
#include "comm/agreement.hpp"

namespace wherry::window {
namespace {

/// MPI windows cannot be duplicated, but a copy function must be given.
int never_copy(MPI_Win, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

/// What all ranks have in the window.
struct Gathered {
  std::vector<TargetMemory> memories;
  std::int64_t node_bytes = INT64_MAX;  // that all of them are ready to share with their nodes
  int first_problem = INT_MAX, first_remark = INT_MAX;  // ranks; INT_MAX: none has one
};

/// Collective over comm.
int gather(const mpi::Api& api, MPI_Comm comm, const TargetMemory& own, const Options& options,
           std::size_t node_bytes, Gathered& all) {
  constexpr int numbers_each = 5;
  int size = 0;
  if (const int code = api.Comm_size(comm, &size); code != MPI_SUCCESS) return code;
  const std::int64_t mine[numbers_each] = {own.bytes, own.unit, static_cast<std::int64_t>(node_bytes),
                                           !options.problem.empty(), !options.remark.empty()};
  std::vector<std::int64_t> numbers(numbers_each * static_cast<std::size_t>(size));
  const int code =
      api.Allgather(mine, numbers_each, MPI_INT64_T, numbers.data(), numbers_each, MPI_INT64_T, comm);
  for (int rank = 0; rank < size; ++rank) {
    const std::int64_t* const each = numbers.data() + numbers_each * static_cast<std::size_t>(rank);
    all.memories.push_back({each[0], each[1]});
    all.node_bytes = std::min(all.node_bytes, each[2]);
    if (each[3] != 0) all.first_problem = std::min(all.first_problem, rank);
    if (each[4] != 0) all.first_remark = std::min(all.first_remark, rank);
  }
  return code;
}

/// What this rank itself has against caching a window.
std::optional<Uncached> objection(const Options& options) {
  if (!options.problem.empty()) return Uncached::info;
  if (!options.caching) return Uncached::off;
  if (run::accelerator_loaded()) return Uncached::accelerator;
  return std::nullopt;
}

}  // namespace

const char* reason_of(Uncached why) {
  constexpr const char* reasons[] = {"off",
                                     "shared memory",
                                     "dynamic",
                                     "one rank",
                                     "an accelerator's memory may be in it",
                                     "its info is not understood",
                                     "no memory for a cache"};
  return reasons[static_cast<std::size_t>(why)];
}

std::optional<Uncached> Windows::Known::why_not() const {
  if (!window_) return why_;
  return window_->lacks_memory() ? std::optional(Uncached::no_memory) : std::nullopt;
}

std::uint64_t Windows::Known::passed() const {
  return window_ ? window_->statistics().passed : passed_.load(std::memory_order_relaxed);
}

std::optional<int> first_with(const mpi::Api& api, MPI_Comm comm, bool problem, int& code) {
  int rank = 0, first = INT_MAX;
  if (code = api.Comm_rank(comm, &rank); code != MPI_SUCCESS) return std::nullopt;
  const int mine = problem ? rank : INT_MAX;
  code = api.Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  return code != MPI_SUCCESS || first == INT_MAX ? std::nullopt : std::optional(first);
}

int Windows::add(MPI_Win win, MPI_Comm comm, const TargetMemory& own, const Options& options) {
  const std::optional<Uncached> why_not = objection(options);
  const int key = keyval();
  Gathered all;
  const std::size_t ready = why_not || key == MPI_KEYVAL_INVALID ? 0 : options.shared_bytes();
  if (const int code = gather(api_, comm, own, options, ready, all); code != MPI_SUCCESS) return code;
  int rank = 0, level = MPI_THREAD_SINGLE;
  api_.Comm_rank(comm, &rank);
  api_.Query_thread(&level);
  if (rank == all.first_problem) tell_(options.problem + "; the window is not cached on ranks that say so");
  if (rank == all.first_remark) tell_(options.remark);
  if (why_not) return leave(win, *why_not);
  if (all.memories.size() < 2) return leave(win, Uncached::one_rank);
  if (key == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  Known& known = take_place();
  known.window_.emplace(api_, types_, win, all.memories, rank, options, level == MPI_THREAD_MULTIPLE);
  if (all.node_bytes > 0) share(known, comm, rank, static_cast<std::size_t>(all.node_bytes));
  return attach(win, key, known);
}

/// Gives a window memory of its node. Collective over comm. What keeps nodes from having it is told once.
void Windows::share(Known& known, MPI_Comm comm, int rank, std::size_t bytes) {
  std::string problem;
  known.node_ = NodeMemory::make(api_, comm, bytes, problem);
  if (known.node_ != nullptr) known.window_->share(known.node_->cache());
  int code = MPI_SUCCESS;
  if (first_with(api_, comm, !problem.empty(), code) == rank) tell_(problem);
}

int Windows::leave(MPI_Win win, Uncached why) {
  const int key = keyval();
  if (key == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  Known& known = take_place();
  known.why_ = why;
  return attach(win, key, known);
}

/// The lock is not held while the library is called: it frees windows under a lock of its own.
int Windows::attach(MPI_Win win, int key, Known& known) {
  const int code = api_.Win_set_attr(win, key, &known);
  if (code != MPI_SUCCESS) return remove(known), code;
  known.win_.store(win, std::memory_order_release);
  return MPI_SUCCESS;
}

Windows::Known* Windows::search(MPI_Win win) {
  if (known_ == 0 || win == MPI_WIN_NULL) return nullptr;
  const std::lock_guard lock(mutex_);
  for (Known& known : entries_) {
    if (!known.used_ || known.win_.load(std::memory_order_relaxed) != win) continue;
    places_[slot_of(win)].store(&known, std::memory_order_release);
    return &known;
  }
  return nullptr;
}

Windows::Known& Windows::take_place() {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find_if(entries_, [](const Known& known) { return !known.used_; });
  Known& known = free != entries_.end() ? *free : entries_.emplace_back();
  known.used_ = true;
  known.passed_ = 0;
  ++known_;
  return known;
}

int Windows::keyval() {
  std::call_once(keyval_made_, [this] {
    if (api_.Win_create_keyval(never_copy, on_free, &keyval_, this) != MPI_SUCCESS)
      keyval_ = MPI_KEYVAL_INVALID;
  });
  return keyval_;
}

int Windows::on_free(MPI_Win, int, void* value, void* self) {
  static_cast<Windows*>(self)->remove(*static_cast<Known*>(value));
  return MPI_SUCCESS;
}

void Windows::remove(Known& known) {
  // Goes last, and without the lock: the ranks of the node wait for each other.
  std::unique_ptr<NodeMemory> node;
  const std::lock_guard lock(mutex_);
  // Nobody may find it by its handle, nor by that of no window.
  Known* found = &known;
  places_[slot_of(known.win_.exchange(MPI_WIN_NULL))].compare_exchange_strong(found, nullptr);
  known.window_.reset();
  node = std::move(known.node_);
  known.used_ = false;
  --known_;
}

}  // namespace wherry::window
