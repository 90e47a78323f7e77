// Programs written for the caching layer CLaMPI, by its names, on Wherry's cached windows (wherry/window.h).
//
// The names are those of its description: S. Di Girolamo, F. Vella, T. Hoefler, "Transparent Caching for RMA Systems",
// IPDPS 2017. A CMPI_Win is an MPI_Win; use CMPI_ names for the calls that this header has, and MPI's for others. Link
// Wherry beside the MPI library.
#ifndef WHERRY_CLAMPI_H
#define WHERRY_CLAMPI_H

#include <wherry/window.h>

/// The info key of a window's mode, and its values.
#define CLAMPI_MODE "clampi_mode"
#define CLAMPI_TRANSPARENT "transparent"
#define CLAMPI_ALWAYS_CACHE "always"
#define CLAMPI_USER_DEFINED "user"

typedef MPI_Win CMPI_Win;

static inline int CMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                  CMPI_Win* win) {
  return wherry_win_create(base, size, disp_unit, info, comm, win);
}
static inline int CMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                                    CMPI_Win* win) {
  return wherry_win_allocate(size, disp_unit, info, comm, baseptr, win);
}
static inline int CMPI_Win_free(CMPI_Win* win) { return wherry_win_free(win); }

static inline int CMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                           MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
                           CMPI_Win win) {
  return wherry_win_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                        target_datatype, win);
}
static inline int CMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, int target_count,
                           MPI_Datatype target_datatype, CMPI_Win win) {
  return wherry_win_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                        target_datatype, win);
}

static inline int CMPI_Win_fence(int assertion, CMPI_Win win) { return wherry_win_fence(assertion, win); }
static inline int CMPI_Win_lock(int type, int rank, int assertion, CMPI_Win win) {
  return wherry_win_lock(type, rank, assertion, win);
}
static inline int CMPI_Win_lock_all(int assertion, CMPI_Win win) {
  return wherry_win_lock_all(assertion, win);
}
static inline int CMPI_Win_unlock(int rank, CMPI_Win win) { return wherry_win_unlock(rank, win); }
static inline int CMPI_Win_unlock_all(CMPI_Win win) { return wherry_win_unlock_all(win); }
static inline int CMPI_Win_flush(int rank, CMPI_Win win) { return wherry_win_flush(rank, win); }
static inline int CMPI_Win_flush_all(CMPI_Win win) { return wherry_win_flush_all(win); }
static inline int CMPI_Win_flush_local(int rank, CMPI_Win win) { return wherry_win_flush_local(rank, win); }
static inline int CMPI_Win_flush_local_all(CMPI_Win win) { return wherry_win_flush_local_all(win); }
static inline int CMPI_Win_invalidate(CMPI_Win win) { return wherry_win_invalidate(win); }

#endif
