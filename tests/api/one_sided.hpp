// MPI's one-sided functions as a table: the library's, or Wherry's of the same signatures.
#pragma once

#include <mpi.h>
#include <wherry/window.h>

namespace test {

struct OneSided {
  const char* name;
  decltype(&wherry_win_create) create;
  decltype(&wherry_win_free) free;
  decltype(&wherry_win_get) get;
  decltype(&wherry_win_rget) rget;
  decltype(&wherry_win_put) put;
  decltype(&wherry_win_rput) rput;
  decltype(&wherry_win_accumulate) accumulate;
  decltype(&wherry_win_raccumulate) raccumulate;
  decltype(&wherry_win_get_accumulate) get_accumulate;
  decltype(&wherry_win_fetch_and_op) fetch_and_op;
  decltype(&wherry_win_compare_and_swap) compare_and_swap;
  decltype(&wherry_win_fence) fence;
  decltype(&wherry_win_lock) lock;
  decltype(&wherry_win_lock_all) lock_all;
  decltype(&wherry_win_unlock) unlock;
  decltype(&wherry_win_unlock_all) unlock_all;
  decltype(&wherry_win_flush) flush;
  decltype(&wherry_win_flush_all) flush_all;
  decltype(&wherry_win_flush_local) flush_local;
  decltype(&wherry_win_flush_local_all) flush_local_all;
  decltype(&wherry_win_sync) sync;
  decltype(&wherry_win_start) start;
  decltype(&wherry_win_complete) complete;
  decltype(&wherry_win_post) post;
  decltype(&wherry_win_wait) wait;
  int (*invalidate)(MPI_Win);
};

inline int invalidate_nothing(MPI_Win) { return MPI_SUCCESS; }

inline constexpr OneSided by_library = {"MPI",
                                        MPI_Win_create,
                                        MPI_Win_free,
                                        MPI_Get,
                                        MPI_Rget,
                                        MPI_Put,
                                        MPI_Rput,
                                        MPI_Accumulate,
                                        MPI_Raccumulate,
                                        MPI_Get_accumulate,
                                        MPI_Fetch_and_op,
                                        MPI_Compare_and_swap,
                                        MPI_Win_fence,
                                        MPI_Win_lock,
                                        MPI_Win_lock_all,
                                        MPI_Win_unlock,
                                        MPI_Win_unlock_all,
                                        MPI_Win_flush,
                                        MPI_Win_flush_all,
                                        MPI_Win_flush_local,
                                        MPI_Win_flush_local_all,
                                        MPI_Win_sync,
                                        MPI_Win_start,
                                        MPI_Win_complete,
                                        MPI_Win_post,
                                        MPI_Win_wait,
                                        invalidate_nothing};

inline constexpr OneSided by_wherry = {"Wherry",
                                       wherry_win_create,
                                       wherry_win_free,
                                       wherry_win_get,
                                       wherry_win_rget,
                                       wherry_win_put,
                                       wherry_win_rput,
                                       wherry_win_accumulate,
                                       wherry_win_raccumulate,
                                       wherry_win_get_accumulate,
                                       wherry_win_fetch_and_op,
                                       wherry_win_compare_and_swap,
                                       wherry_win_fence,
                                       wherry_win_lock,
                                       wherry_win_lock_all,
                                       wherry_win_unlock,
                                       wherry_win_unlock_all,
                                       wherry_win_flush,
                                       wherry_win_flush_all,
                                       wherry_win_flush_local,
                                       wherry_win_flush_local_all,
                                       wherry_win_sync,
                                       wherry_win_start,
                                       wherry_win_complete,
                                       wherry_win_post,
                                       wherry_win_wait,
                                       wherry_win_invalidate};

}  // namespace test
