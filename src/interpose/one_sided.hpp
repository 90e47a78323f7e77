// Calls on windows, which Wherry may have cached. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "window/windows.hpp"

namespace wherry::interpose {

using window::Native;
using window::Region;
using window::TargetRegion;
using window::Window;

/// nullptr: all calls on the window are native.
inline Window* cached(MPI_Win win) {
  window::Windows* const windows = backend().windows.get();
  return windows == nullptr ? nullptr : windows->find(win);
}
/// The same for a get, which is counted.
inline Window* cached_for_get(MPI_Win win) {
  window::Windows* const windows = backend().windows.get();
  return windows == nullptr ? nullptr : windows->find_for_get(win);
}
/// nullptr: the window was made where nobody saw it.
inline const window::Windows::Known* known(MPI_Win win) {
  window::Windows* const windows = backend().windows.get();
  return windows == nullptr ? nullptr : windows->know(win);
}

/// Whether a window that this call has made may be cached here. Those of Wherry's own library are cached there.
inline bool is_cacheable(Call& call, int code) {
  return code == MPI_SUCCESS && backend().caching() && is_the_programs(call);
}

/// The library makes the window; Wherry then caches what other ranks have in it. Collective over comm.
template <class Next>
int make_window(Call& call, MPI_Info info, MPI_Comm comm, MPI_Win* win, const window::TargetMemory& own,
                const Next& next) {
  const int code = next();
  return is_cacheable(call, code) ? backend().windows.add(*win, comm, info, own) : code;
}

/// The library makes a window that is its alone.
template <class Next>
int make_uncached(Call& call, MPI_Win* win, window::Uncached why, const Next& next) {
  const int code = next();
  return is_cacheable(call, code) ? backend().windows.make().leave(*win, why) : code;
}

template <class Next>
int get(MPI_Win win, const datatype::Region& origin, const TargetRegion& place, const Next& next) {
  Window* const window = cached_for_get(win);
  return window == nullptr ? next() : window->get(origin, place, 1, Native(next));
}

template <class Next>
int get_by_request(MPI_Win win, const datatype::Region& origin, const TargetRegion& place,
                   MPI_Request* request, const Next& next) {
  Window* const window = cached_for_get(win);
  return window == nullptr ? next() : window->rget(origin, place, request, Native(next));
}

template <class Next>
int put(MPI_Win win, const datatype::Region& origin, const TargetRegion& place, const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->put(origin, place, Native(next));
}

/// What changes the target in a way that nobody here knows.
template <class Next>
int change(MPI_Win win, const TargetRegion& place, const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->change(place, Native(next));
}

/// The same, or only reads it, by the operation.
template <class Next>
int change_or_read(MPI_Win win, MPI_Op op, const datatype::Region& result, const TargetRegion& place,
                   const Next& next) {
  Window* const window = cached(win);
  if (window == nullptr) return next();
  return op == MPI_NO_OP ? window->read_atomically(result, place, Native(next))
                         : window->change(place, Native(next));
}

/// Whatever completes or synchronizes, at one rank or at all.
template <class Next>
int synchronize(MPI_Win win, int rank, int (Window::*ours)(int, const Native&), const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : (window->*ours)(rank, Native(next));
}
template <class Next>
int synchronize(MPI_Win win, int (Window::*ours)(const Native&), const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : (window->*ours)(Native(next));
}

/// What a window that goes has done.
inline void book_window(MPI_Win win) {
  if (inside_mpi()) return;
  if (const auto* const gone = known(win)) backend().windows.book(*gone);
}

/// What is asked of a window is told with what its cache has done.
template <class Next>
int get_info(MPI_Win win, MPI_Info* info, const Next& next) {
  const int code = next();
  const auto* const asked = known(win);
  if (code != MPI_SUCCESS || asked == nullptr) return code;
  window::report(*asked, [&](const std::string& key, const std::string& value) {
    backend().queries().Info_set(*info, key.c_str(), value.c_str());
  });
  return code;
}

/// The key wherry_cache with the value invalidate: how a program under the preload says that others have written. To
/// forget is right whatever else it may say.
template <class Next>
int set_info(MPI_Win win, MPI_Info info, const Next& next) {
  Window* const window = cached(win);
  const auto told = window == nullptr ? std::nullopt : window::told(backend().api(), info);
  if (!told || *told == window::name_of(window->options().cache.mode)) return next();
  window->invalidate();
  if (*told != "invalidate" && window->rank() == 0) backend().windows.note_strange_info(*told);
  return next();
}

}  // namespace wherry::interpose
