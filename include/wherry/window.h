// Wherry for C: cached windows. The one-sided functions of MPI under the prefix wherry_win_, with MPI's own signatures.
//
// A window made here remembers what this rank has read of the others' memory, so that reading it again costs no
// message. It is a real MPI_Win. How long what was read stays valid is its mode, the info key "wherry_cache":
//
//   transparent  until anything completes or synchronizes: right for every program. Gets of the same data that are
//                under way at the same time become one. The default.
//   always       for the life of the window, which nobody writes.
//   user         until wherry_win_invalidate. Call it on every rank when others may have written.
//   off          all calls on the window are native.
//
// Other keys; sizes are in bytes, or with K, M or G:
//
//   wherry_cache_ceiling   most memory of the cache: 64K to 1024G (64M)
//   wherry_cache_storage   its memory for data at first (1M), and
//   wherry_cache_entries   the entries that its index has room for at first (4096); both less where the ceiling asks
//   for that wherry_cache_adaptive  0: it stays at that size
//   wherry_cache_bypass    0: use it even where plain gets turn out to be cheaper
//   wherry_cache_coalesce  1: hold gets back until a flush, unlock or fence, and ask for what is adjacent at once
//   wherry_cache_block     a power of two from 64 to 1M: except in the mode transparent, fetch what is missing with the
//                          rest of the block around it; 0: alone
//   wherry_cache_node      memory that the ranks of a node share, so that what one of them has read the others need not
//                          fetch: 64K to 1024G; 0: none
//
// A key that begins with wherry_ or clampi_ and is none of these (clampi.h has one more) has no effect, and a line on
// stderr says so. For windows whose info does not say, the environment does: WHERRY_CACHE and its like.
//
// What holds for all of these functions:
// - Arguments, return codes and epochs are MPI's (MPI 4.1, chapter 12), with derived types of all kinds. On a window
//   that is not cached (of shared memory, dynamic, of one rank, or not made here) they are MPI's functions.
// - Use these names for all calls on a cached window: of MPI_Win_flush and its like Wherry would not know.
// - This rank's own writes update or drop what they touch, in all modes.
// - What is read or written outside of the target's memory is MPI_ERR_RMA_RANGE, through the window's error handler.
//   Other errors are the library's, which does not see gets of data that are there: without an epoch these are no
//   MPI_ERR_RMA_SYNC.
// - Threads may call at once as far as MPI allows it.
#ifndef WHERRY_WINDOW_H
#define WHERRY_WINDOW_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Of MPI_Win_create and its like: collective over comm; all ranks give the same keys. A key with a value that cannot
/// be is MPI_ERR_INFO_VALUE on all ranks, also where another has given it, through comm's error handler, after a
/// message that says what is wrong.
int wherry_win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);
int wherry_win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                        MPI_Win* win);
/// These two are never cached, but their gets are counted: shared memory is read faster as it is, and who knows what a
/// dynamic window has.
int wherry_win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                               MPI_Win* win);
int wherry_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win);
int wherry_win_free(MPI_Win* win);

int wherry_win_get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win);
/// score: how much more than others these data are worth keeping when memory runs short; positive, 1 is usual. Others
/// count as 1.
int wherry_win_get_scored(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type, double score,
                          MPI_Win win);
int wherry_win_rget(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
                    MPI_Request* request);
int wherry_win_put(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win);
int wherry_win_rput(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
                    MPI_Request* request);
int wherry_win_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                          MPI_Win win);
int wherry_win_raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                           MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                           MPI_Win win, MPI_Request* request);
int wherry_win_get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result,
                              int result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                              int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win);
int wherry_win_rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result,
                               int result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                               MPI_Request* request);
int wherry_win_fetch_and_op(const void* origin, void* result, MPI_Datatype type, int target,
                            MPI_Aint displacement, MPI_Op op, MPI_Win win);
int wherry_win_compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                                int target, MPI_Aint displacement, MPI_Win win);

int wherry_win_fence(int assertion, MPI_Win win);
int wherry_win_lock(int type, int rank, int assertion, MPI_Win win);
int wherry_win_lock_all(int assertion, MPI_Win win);
int wherry_win_unlock(int rank, MPI_Win win);
int wherry_win_unlock_all(MPI_Win win);
/// These four return at once if nothing is under way that they would complete.
int wherry_win_flush(int rank, MPI_Win win);
int wherry_win_flush_all(MPI_Win win);
int wherry_win_flush_local(int rank, MPI_Win win);
int wherry_win_flush_local_all(MPI_Win win);
int wherry_win_sync(MPI_Win win);
int wherry_win_start(MPI_Group group, int assertion, MPI_Win win);
int wherry_win_complete(MPI_Win win);
int wherry_win_post(MPI_Group group, int assertion, MPI_Win win);
int wherry_win_wait(MPI_Win win);
int wherry_win_test(MPI_Win win, int* flag);

/// Forgets what was read, in constant time. Local. Gets under way still complete. With wherry_cache_node every rank of
/// the node calls it after the same writes, for it ends what is valid of the others' reads, too: calls are counted.
/// MPI_ERR_WIN for MPI_WIN_NULL.
int wherry_win_invalidate(MPI_Win win);

/// What a window's cache has done on this rank. Each range of bytes that is looked up counts once, as a hit or a miss:
/// a get of a type with gaps, or of several blocks, is several.
typedef struct wherry_win_statistics {
  unsigned long long full_hits;           // all bytes were there
  unsigned long long pending_hits;        // all bytes were there or under way already
  unsigned long long partial_hits;        // some bytes had to be fetched
  unsigned long long compulsory_misses;   // never asked for before
  unsigned long long capacity_misses;     // gone for lack of memory
  unsigned long long conflict_misses;     // gone for lack of room in the index
  unsigned long long invalidated_misses;  // gone with an epoch, by invalidation, or by own writes
  unsigned long long evictions;
  unsigned long long adjustments;  // changes of size of the cache
  unsigned long long invalidations;
  unsigned long long bytes_saved;  // asked for and not fetched
  unsigned long long bytes_fetched;
  unsigned long long bytes_ahead;  // of these: the rest of blocks, which nobody had asked for
  unsigned long long
      gets_passed;  // not cached: to this rank itself, with types of unknown shape, by MPI_Rget
                    // of what is not there; all gets of a window that is not cached
  unsigned long long gets_bypassed;  // not cached because plain gets were cheaper
  unsigned long long
      gets_fetched;  // for which something was fetched: a message each, or fewer if they were joined
  unsigned long long flushes_saved;  // that had nothing to complete
  unsigned long long entries, bytes,
      ceiling_bytes;  // what the cache has now, all its memory, and the most it may take
  double
      seconds_saved;  // estimated from the times of gets that were fetched, with their flush or unlock, and from
                      // their sizes (8 KiB are taken to last as long as the message itself); 0 if none was
                      // timed: a fence waits for other ranks, too, and says nothing of the gets
  // With wherry_cache_node. What is found counts as a miss of this rank's own cache, but not as fetched.
  unsigned long long node_found;    // read by another rank of the node
  unsigned long long node_offered;  // fetched, and offered to the others
  unsigned long long node_refused;  // of these: too large, or another rank was just writing there
} wherry_win_statistics;

/// Of a window that is not cached all but gets_passed are 0. MPI_ERR_WIN for MPI_WIN_NULL. Local.
int wherry_win_get_statistics(MPI_Win win, wherry_win_statistics* statistics);

/// A change of the memory that a window's cache has for what it keeps.
typedef struct wherry_win_adjustment {
  unsigned long long lookups;        // ranges of bytes looked up before it
  unsigned long long storage_bytes;  // from then on
} wherry_win_adjustment;

/// The first `most` of the last 64 changes, oldest first; count: how many were written. MPI_ERR_COUNT if most is
/// negative, MPI_ERR_WIN for MPI_WIN_NULL. Local.
int wherry_win_get_adjustments(MPI_Win win, int most, wherry_win_adjustment* adjustments, int* count);

/// 1 if the window is cached, else 0. Local.
int wherry_win_is_cached(MPI_Win win);
/// NULL if the window is cached; else why it is not: "off", "shared memory", "dynamic", "one rank", "an accelerator's
/// memory may be in it", "no memory for a cache" (once that was found, at the first get), or "not known" for a window
/// that was not made here.
/// (An info that says what cannot be is an error of the call here that makes the window. Under the preload the window's
/// info then says "its info is not understood".) Local.
const char* wherry_win_why_not_cached(MPI_Win win);

#ifdef __cplusplus
}
#endif

#endif
