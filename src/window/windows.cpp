#include "window/windows.hpp"

#include <algorithm>
#include <vector>

#include "run/terms.hpp"

namespace wherry::window {
namespace {

/// MPI windows cannot be duplicated, but a copy function must be given.
int never_copy(MPI_Win, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

/// What every rank has in the window. Collective over comm.
int gather_segments(const mpi::Api& api, MPI_Comm comm, const Segment& own, std::vector<Segment>& all) {
  int size = 0;
  if (const int code = api.Comm_size(comm, &size); code != MPI_SUCCESS) return code;
  const std::int64_t mine[2] = {own.bytes, own.unit};
  std::vector<std::int64_t> numbers(2 * static_cast<std::size_t>(size));
  const int code = api.Allgather(mine, 2, MPI_INT64_T, numbers.data(), 2, MPI_INT64_T, comm);
  for (std::size_t i = 0; i < numbers.size(); i += 2) all.push_back({numbers[i], numbers[i + 1]});
  return code;
}

}  // namespace

int Windows::add(MPI_Win win, MPI_Comm comm, const Segment& own, const Options& options) {
  std::vector<Segment> segments;
  if (const int code = gather_segments(api_, comm, own, segments); code != MPI_SUCCESS) return code;
  if (!options.caching || segments.size() < 2 || run::accelerator_loaded()) return MPI_SUCCESS;
  int rank = 0, level = MPI_THREAD_SINGLE;
  api_.Comm_rank(comm, &rank);
  api_.Query_thread(&level);
  const int key = keyval();
  if (key == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  // The lock is not held while the library is called: it frees windows under a lock of its own.
  Entry& entry = place_for(win, segments, rank, options, level == MPI_THREAD_MULTIPLE);
  const int code = api_.Win_set_attr(win, key, &entry);
  if (code != MPI_SUCCESS) return remove(entry), code;
  entry.win.store(win, std::memory_order_release);
  return MPI_SUCCESS;
}

Window* Windows::search(MPI_Win win) {
  if (cached_ == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (!entry.window || entry.win.load(std::memory_order_relaxed) != win) continue;
    places_[slot_of(win)].store(&entry, std::memory_order_release);
    return &*entry.window;
  }
  return nullptr;
}

Windows::Entry& Windows::place_for(MPI_Win win, const std::vector<Segment>& segments, int own,
                                   const Options& options, bool threads) {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find_if(entries_, [](const Entry& entry) { return !entry.window; });
  Entry& entry = free != entries_.end() ? *free : entries_.emplace_back();
  entry.window.emplace(api_, types_, win, segments, own, options, threads);
  ++cached_;
  return entry;
}

int Windows::keyval() {
  std::call_once(keyval_made_, [this] {
    if (api_.Win_create_keyval(never_copy, on_free, &keyval_, this) != MPI_SUCCESS)
      keyval_ = MPI_KEYVAL_INVALID;
  });
  return keyval_;
}

int Windows::on_free(MPI_Win, int, void* value, void* self) {
  static_cast<Windows*>(self)->remove(*static_cast<Entry*>(value));
  return MPI_SUCCESS;
}

void Windows::remove(Entry& entry) {
  const std::lock_guard lock(mutex_);
  // Nobody may find it by its handle, nor by that of no window.
  Entry* found = &entry;
  places_[slot_of(entry.win.exchange(MPI_WIN_NULL))].compare_exchange_strong(found, nullptr);
  entry.window.reset();
  --cached_;
}

}  // namespace wherry::window
