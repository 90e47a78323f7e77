// Calls on windows, which Wherry may have cached. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include "interpose/backend.hpp"
#include "window/windows.hpp"

namespace wherry::interpose {

using window::Native;
using window::Place;
using window::Region;
using window::Window;

/// nullptr: the window is the library's alone.
inline Window* cached(MPI_Win win) {
  window::Windows* const windows = backend().windows();
  return windows == nullptr ? nullptr : windows->find(win);
}

/// The library makes the window; Wherry then caches what other ranks have in it. Collective over comm.
template <class Next>
int make_window(MPI_Info info, MPI_Comm comm, MPI_Win* win, const window::Segment& own, const Next& next) {
  const int code = next();
  return code != MPI_SUCCESS || !backend().caching() ? code : backend().cache_window(*win, comm, info, own);
}

template <class Next>
int get(MPI_Win win, const Region& origin, const Place& place, const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->get(origin, place, 1, Native(next));
}

template <class Next>
int get_by_request(MPI_Win win, const Region& origin, const Place& place, MPI_Request* request,
                   const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->rget(origin, place, request, Native(next));
}

template <class Next>
int put(MPI_Win win, const Region& origin, const Place& place, const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->put(origin, place, Native(next));
}

/// What changes the target in a way that nobody here knows.
template <class Next>
int change(MPI_Win win, const Place& place, const Next& next) {
  Window* const window = cached(win);
  return window == nullptr ? next() : window->change(place, Native(next));
}

/// The same, or only reads it, by the operation.
template <class Next>
int change_or_read(MPI_Win win, MPI_Op op, const Region& result, const Place& place, const Next& next) {
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
  const Window* const window = inside_mpi() ? nullptr : cached(win);
  if (window != nullptr) backend().book(*window);
}

/// The key wherry_cache with the value invalidate: how a program under the preload says that others have written.
template <class Next>
int set_info(MPI_Win win, MPI_Info info, const Next& next) {
  Window* const window = cached(win);
  if (window != nullptr && window::asks_to_invalidate(backend().api(), info)) window->invalidate();
  return next();
}

}  // namespace wherry::interpose
