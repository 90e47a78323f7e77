// Windows that are not cached: what they are, why, and how many gets they had; and windows that are gone.
//
// Runs under mpiexec at 2 or more ranks of one node.
#include <mpi.h>
#include <wherry/window.hpp>

#include <cstdio>
#include <string>

#include "ring.hpp"

namespace {

std::string why(MPI_Win win) {
  const char* const reason = wherry_win_why_not_cached(win);
  return reason == nullptr ? "cached" : reason;
}

unsigned long long gets_passed(MPI_Win win) {
  wherry_win_statistics statistics;
  wherry_win_get_statistics(win, &statistics);
  return statistics.gets_passed;
}

/// Reads one int of the next rank three times, once with a request.
void read(test::Ring& t, MPI_Win win, MPI_Aint displacement, const char* what) {
  wherry_win_lock_all(0, win);
  for (int i = 0; i < 2; ++i) {
    int value = -1;
    wherry_win_get(&value, 1, MPI_INT, t.next, displacement, 1, MPI_INT, win);
    wherry_win_flush(t.next, win);
    t.checks.that(value == t.next, what);
  }
  int value = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  wherry_win_rget(&value, 1, MPI_INT, t.next, displacement, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  t.checks.that(value == t.next, what);
  wherry_win_unlock_all(win);
}

void shared_memory(test::Ring& t) {
  int* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  wherry_win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = t.rank;
  MPI_Barrier(MPI_COMM_WORLD);
  t.checks.that(wherry_win_is_cached(win) == 0 && why(win) == "shared memory",
                "a window of shared memory is cached");
  read(t, win, 0, "a window of shared memory");
  t.checks.that(gets_passed(win) == 3, "gets of a window of shared memory are not counted");
  MPI_Barrier(MPI_COMM_WORLD);
  wherry_win_free(&win);
}

void dynamic(test::Ring& t) {
  MPI_Win win = MPI_WIN_NULL;
  wherry_win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int memory = t.rank;
  MPI_Win_attach(win, &memory, sizeof memory);
  MPI_Aint mine = 0, theirs = 0;
  MPI_Get_address(&memory, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, (t.rank + t.size - 1) % t.size, 0, &theirs, 1, MPI_AINT, t.next, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  t.checks.that(wherry_win_is_cached(win) == 0 && why(win) == "dynamic", "a dynamic window is cached");
  read(t, win, theirs, "a dynamic window");
  t.checks.that(gets_passed(win) == 3, "gets of a dynamic window are not counted");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, &memory);
  wherry_win_free(&win);
}

void off_and_on(test::Ring& t) {
  std::vector<int> mine(1, t.rank);
  auto off = wherry::Window<int>::create(MPI_COMM_WORLD, mine, {.mode = wherry::CacheMode::off});
  t.checks.that(off.why_not_cached() == "off", "why a window that is off is not cached");
  auto on = wherry::Window<int>::create(MPI_COMM_WORLD, mine);
  t.checks.that(on.is_cached() && on.why_not_cached().empty(), "why a window is cached");
  MPI_Win plain = MPI_WIN_NULL;
  MPI_Win_create(mine.data(), 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &plain);
  t.checks.that(why(plain) == "not known" && gets_passed(plain) == 0, "a window made elsewhere is known");
  MPI_Win_free(&plain);
}

/// Errors of no window are the library's: its functions say so, and Wherry's own know nothing.
void freed(test::Ring& t) {
  std::vector<int> mine(1, t.rank);
  MPI_Win win = MPI_WIN_NULL;
  wherry_win_create(mine.data(), 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const MPI_Win before = win;
  wherry_win_free(&win);
  t.checks.that(win == MPI_WIN_NULL, "a window that is freed is no window");
  t.checks.that(why(before) == "not known" && why(MPI_WIN_NULL) == "not known",
                "a window that is freed is known");
  int count = -1;
  wherry_win_get_adjustments(before, 1, nullptr, &count);
  t.checks.that(wherry_win_get_adjustments(before, -1, nullptr, &count) == MPI_ERR_COUNT && count == 0,
                "fewer adjustments than none");
  t.checks.that(count == 0 && gets_passed(before) == 0 && wherry_win_invalidate(before) == MPI_SUCCESS,
                "a window that is freed has statistics");
  // MPI 4 raises such errors on MPI_COMM_SELF, MPI 3 on MPI_COMM_WORLD.
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 0;
  const int codes[] = {wherry_win_get(&value, 1, MPI_INT, t.next, 0, 1, MPI_INT, win),
                       wherry_win_put(&value, 1, MPI_INT, t.next, 0, 1, MPI_INT, win),
                       wherry_win_flush(t.next, win), wherry_win_free(&win)};
  for (const int code : codes) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    t.checks.that(error_class == MPI_ERR_WIN, "no window is no error");
  }
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  return test::run_each<test::Ring>(argc, argv, {shared_memory, dynamic, off_and_on, freed});
}
