// The C API of cached windows. Each function says what is Wherry's part in it; on a window that is not cached there is
// none.
#pragma GCC visibility push(default)
#include "wherry/window.h"
#pragma GCC visibility pop

#include <cstdio>
#include <optional>
#include <string>

#include "api/process.hpp"
#include "window/windows.hpp"

namespace wherry::api {
namespace {

using window::Native;
using window::Region;
using window::TargetRegion;
using window::Window;

void tell(const std::string& problem) { std::fprintf(stderr, "wherry: %s\n", problem.c_str()); }

/// Never destroyed: MPI frees windows until it ends.
window::Windows& windows() {
  static auto* const made = new window::Windows(library(), tell);
  return *made;
}

bool is_enabled() {
  const Settings* const settings = settings_in_use();
  return settings != nullptr && settings->enabled;
}

/// MPI_SUCCESS if no rank has a problem; else the first that has one tells it, and all of them get the error.
/// Collective over comm.
int agree(MPI_Comm comm, const std::string& problem) {
  int rank = 0, code = MPI_SUCCESS;
  const std::optional<int> first = window::first_with(library(), comm, !problem.empty(), code);
  if (!first) return code;
  library().Comm_rank(comm, &rank);
  if (first == rank) tell(problem);
  library().Barrier(comm);  // the handler may end the program, and who tells with it
  library().Comm_call_errhandler(comm, MPI_ERR_INFO_VALUE);
  return MPI_ERR_INFO_VALUE;
}

/// A window of memory whose size here is known.
int make(MPI_Info info, MPI_Comm comm, MPI_Win* win, const window::TargetMemory& own, const Native& native) {
  if (!is_enabled()) return native();
  window::Options options = window::options_of(*settings_in_use());
  window::read_info(library(), info, options);
  if (const int code = agree(comm, options.problem); code != MPI_SUCCESS) return code;
  const int code = native();
  return code != MPI_SUCCESS ? code : windows().add(*win, comm, own, options);
}

/// A window that the library has made, and that is its alone.
int leave(int code, const MPI_Win* win, window::Uncached why) {
  return code != MPI_SUCCESS || !is_enabled() ? code : windows().leave(*win, why);
}

/// Wherry's part in a call on a window, if it has one; else the native call.
template <class Call, class Ours>
int with(MPI_Win win, const Call& native, Ours ours) {
  Window* const cached = windows().find(win);
  return cached == nullptr ? native() : ours(*cached, Native(native));
}

/// The same for gets, which are counted.
template <class Call, class Ours>
int get_with(MPI_Win win, const Call& native, Ours ours) {
  Window* const cached = windows().find_for_get(win);
  return cached == nullptr ? native() : ours(*cached, Native(native));
}

/// The same for calls that have no other arguments.
template <class Call>
int end(MPI_Win win, const Call& native, int (Window::*ours)(const Native&)) {
  return with(win, native, [ours](Window& cached, const Native& call) { return (cached.*ours)(call); });
}
template <class Call>
int end_at(int rank, MPI_Win win, const Call& native, int (Window::*ours)(int, const Native&)) {
  return with(win, native, [=](Window& cached, const Native& call) { return (cached.*ours)(rank, call); });
}

/// What changes the target in a way that nobody here knows.
template <class Call>
int change(const TargetRegion& place, MPI_Win win, const Call& native) {
  return with(win, native, [&](Window& cached, const Native& call) { return cached.change(place, call); });
}

/// The same, or only reads it, by the operation.
template <class Call>
int change_or_read(MPI_Op op, const datatype::Region& result, const TargetRegion& place, MPI_Win win,
                   const Call& native) {
  return with(win, native, [&](Window& cached, const Native& call) {
    return op == MPI_NO_OP ? cached.read_atomically(result, place, call) : cached.change(place, call);
  });
}

}  // namespace
}  // namespace wherry::api

using namespace wherry::api;
using wherry::window::Uncached;
using wherry::window::WindowStatistics;
using Known = wherry::window::Windows::Known;

int wherry_win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make(info, comm, win, {size, disp_unit},
              [&] { return library().Win_create(base, size, disp_unit, info, comm, win); });
}

int wherry_win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                        MPI_Win* win) {
  return make(info, comm, win, {size, disp_unit},
              [&] { return library().Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

int wherry_win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                               MPI_Win* win) {
  return leave(library().Win_allocate_shared(size, disp_unit, info, comm, baseptr, win), win,
               Uncached::shared_memory);
}

int wherry_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return leave(library().Win_create_dynamic(info, comm, win), win, Uncached::dynamic);
}

int wherry_win_free(MPI_Win* win) { return library().Win_free(win); }

int wherry_win_get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  return wherry_win_get_scored(origin, origin_count, origin_type, target, displacement, target_count,
                               target_type, 1, win);
}

int wherry_win_get_scored(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type, double score,
                          MPI_Win win) {
  const auto native = [&] {
    return library().Get(origin, origin_count, origin_type, target, displacement, target_count, target_type,
                         win);
  };
  return get_with(win, native, [&](Window& cached, const Native& call) {
    return cached.get({origin, origin_count, origin_type}, {target, displacement, target_count, target_type},
                      score > 0 ? static_cast<float>(score) : 1, call);
  });
}

int wherry_win_rget(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
                    MPI_Request* request) {
  const auto native = [&] {
    return library().Rget(origin, origin_count, origin_type, target, displacement, target_count, target_type,
                          win, request);
  };
  return get_with(win, native, [&](Window& cached, const Native& call) {
    return cached.rget({origin, origin_count, origin_type}, {target, displacement, target_count, target_type},
                       request, call);
  });
}

int wherry_win_put(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  const auto native = [&] {
    return library().Put(origin, origin_count, origin_type, target, displacement, target_count, target_type,
                         win);
  };
  return with(win, native, [&](Window& cached, const Native& call) {
    return cached.put({origin, origin_count, origin_type}, {target, displacement, target_count, target_type},
                      call);
  });
}

int wherry_win_rput(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
                    MPI_Request* request) {
  const auto native = [&] {
    return library().Rput(origin, origin_count, origin_type, target, displacement, target_count, target_type,
                          win, request);
  };
  return with(win, native, [&](Window& cached, const Native& call) {
    return cached.put({origin, origin_count, origin_type}, {target, displacement, target_count, target_type},
                      call);
  });
}

int wherry_win_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                          MPI_Win win) {
  return change({target, displacement, target_count, target_type}, win, [&] {
    return library().Accumulate(origin, origin_count, origin_type, target, displacement, target_count,
                                target_type, op, win);
  });
}

int wherry_win_raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                           MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                           MPI_Win win, MPI_Request* request) {
  return change({target, displacement, target_count, target_type}, win, [&] {
    return library().Raccumulate(origin, origin_count, origin_type, target, displacement, target_count,
                                 target_type, op, win, request);
  });
}

int wherry_win_get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result,
                              int result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                              int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return change_or_read(
      op, {result, result_count, result_type}, {target, displacement, target_count, target_type}, win, [&] {
        return library().Get_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                                        target, displacement, target_count, target_type, op, win);
      });
}

int wherry_win_rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result,
                               int result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                               MPI_Request* request) {
  return change({target, displacement, target_count, target_type}, win, [&] {
    return library().Rget_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                                     target, displacement, target_count, target_type, op, win, request);
  });
}

int wherry_win_fetch_and_op(const void* origin, void* result, MPI_Datatype type, int target,
                            MPI_Aint displacement, MPI_Op op, MPI_Win win) {
  return change_or_read(op, {result, 1, type}, {target, displacement, 1, type}, win, [&] {
    return library().Fetch_and_op(origin, result, type, target, displacement, op, win);
  });
}

int wherry_win_compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                                int target, MPI_Aint displacement, MPI_Win win) {
  return change({target, displacement, 1, type}, win, [&] {
    // SMPI declares what is compared as if it were written.
    return library().Compare_and_swap(origin, const_cast<void*>(compare), result, type, target, displacement,
                                      win);
  });
}

int wherry_win_fence(int assertion, MPI_Win win) {
  return end(win, [&] { return library().Win_fence(assertion, win); }, &Window::end_epoch);
}

int wherry_win_lock(int type, int rank, int assertion, MPI_Win win) {
  return library().Win_lock(type, rank, assertion, win);
}

int wherry_win_lock_all(int assertion, MPI_Win win) { return library().Win_lock_all(assertion, win); }

int wherry_win_unlock(int rank, MPI_Win win) {
  return end_at(rank, win, [&] { return library().Win_unlock(rank, win); }, &Window::unlock);
}

int wherry_win_unlock_all(MPI_Win win) {
  return end(win, [&] { return library().Win_unlock_all(win); }, &Window::unlock_all);
}

int wherry_win_flush(int rank, MPI_Win win) {
  return end_at(rank, win, [&] { return library().Win_flush(rank, win); }, &Window::flush);
}

int wherry_win_flush_all(MPI_Win win) {
  return end(win, [&] { return library().Win_flush_all(win); }, &Window::flush_all);
}

int wherry_win_flush_local(int rank, MPI_Win win) {
  return end_at(rank, win, [&] { return library().Win_flush_local(rank, win); }, &Window::flush_local);
}

int wherry_win_flush_local_all(MPI_Win win) {
  return end(win, [&] { return library().Win_flush_local_all(win); }, &Window::flush_local_all);
}

int wherry_win_sync(MPI_Win win) {
  return end(win, [&] { return library().Win_sync(win); }, &Window::synchronize);
}

int wherry_win_start(MPI_Group group, int assertion, MPI_Win win) {
  return library().Win_start(group, assertion, win);
}

int wherry_win_complete(MPI_Win win) {
  return end(win, [&] { return library().Win_complete(win); }, &Window::end_epoch);
}

int wherry_win_post(MPI_Group group, int assertion, MPI_Win win) {
  return library().Win_post(group, assertion, win);
}

int wherry_win_wait(MPI_Win win) {
  return end(win, [&] { return library().Win_wait(win); }, &Window::synchronize);
}

int wherry_win_test(MPI_Win win, int* flag) {
  return end(win, [&] { return library().Win_test(win, flag); }, &Window::synchronize);
}

int wherry_win_invalidate(MPI_Win win) {
  if (win == MPI_WIN_NULL) return MPI_ERR_WIN;
  if (Window* const cached = windows().find(win)) cached->invalidate();
  return MPI_SUCCESS;
}

int wherry_win_is_cached(MPI_Win win) { return wherry_win_why_not_cached(win) == nullptr ? 1 : 0; }

const char* wherry_win_why_not_cached(MPI_Win win) {
  const Known* const known = windows().know(win);
  if (known == nullptr) return win == MPI_WIN_NULL || is_enabled() ? "not known" : reason_of(Uncached::off);
  const std::optional<Uncached> why = known->why_not();
  return why ? reason_of(*why) : nullptr;
}

int wherry_win_get_statistics(MPI_Win win, wherry_win_statistics* statistics) {
  *statistics = {};
  if (win == MPI_WIN_NULL) return MPI_ERR_WIN;
  const Known* const known = windows().know(win);
  if (known == nullptr) return MPI_SUCCESS;
  const Window* const cached = known->window();
  if (cached == nullptr) return statistics->gets_passed = known->passed(), MPI_SUCCESS;
  using wherry::cache::Cause;
  const WindowStatistics s = cached->statistics();
  tell(s, *statistics);
  statistics->compulsory_misses = s.cache.missed(Cause::compulsory);
  statistics->capacity_misses = s.cache.missed(Cause::capacity);
  statistics->conflict_misses = s.cache.missed(Cause::conflict);
  statistics->invalidated_misses = s.cache.missed(Cause::invalidated);
  statistics->gets_passed = s.passed;
  statistics->gets_bypassed = s.bypassed;
  statistics->gets_fetched = s.fetched;
  statistics->bytes_ahead = s.cache.bytes_ahead;
  statistics->entries = s.entries;
  statistics->ceiling_bytes = s.ceiling_bytes;
  statistics->seconds_saved = s.seconds_saved;
  return MPI_SUCCESS;
}

int wherry_win_get_adjustments(MPI_Win win, int most, wherry_win_adjustment* adjustments, int* count) {
  *count = 0;
  if (win == MPI_WIN_NULL) return MPI_ERR_WIN;
  if (most < 0) return MPI_ERR_COUNT;
  const Window* const cached = windows().find(win);
  if (cached == nullptr) return MPI_SUCCESS;
  for (const wherry::cache::Adjustment& each : cached->adjustments()) {
    if (*count == most) break;
    adjustments[(*count)++] = {each.lookups, each.storage_bytes};
  }
  return MPI_SUCCESS;
}
