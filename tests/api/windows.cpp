// Cached windows by name: exact counts of what is fetched, coherence with own writes, modes, and bad input.
//
// Runs under mpiexec at 2 or more ranks.
#include <clampi.h>
#include <mpi.h>
#include <wherry/window.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "ring.hpp"

namespace {

using wherry::CacheMode;
using Window = wherry::Window<double>;

constexpr std::size_t values = 1000;

struct Test : test::Ring {
  std::vector<double> mine = std::vector<double>(values);

  /// Value i of a rank's memory at first.
  static double content(int rank, std::size_t i) { return rank * 10000.0 + static_cast<double>(i); }

  Window window(CacheMode mode) {
    for (std::size_t i = 0; i < values; ++i) mine[i] = content(rank, i);
    Window made = Window::create(MPI_COMM_WORLD, mine, {.mode = mode, .bypass = false});
    made.lock_all();
    return made;
  }
  /// Reads `count` values of the next rank from `begin` on, and completes it.
  std::vector<double> read(Window& window, std::size_t begin, std::size_t count) {
    std::vector<double> into(count + 2, -1);
    window.get(std::span(into).subspan(1, count), next, static_cast<long long>(begin));
    window.flush(next);
    checks.that(into.front() == -1 && into.back() == -1, "written outside of the destination");
    return {into.begin() + 1, into.end() - 1};
  }
  void expect_content(const std::vector<double>& got, std::size_t begin, const char* what) {
    bool right = true;
    for (std::size_t i = 0; i < got.size(); ++i) right &= got[i] == content(next, begin + i);
    checks.that(right, what);
  }
  void end(Window& window) {
    window.unlock_all();
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

unsigned long long misses(const wherry_win_statistics& s) {
  return s.compulsory_misses + s.capacity_misses + s.conflict_misses + s.invalidated_misses;
}

void second_read_is_a_hit(Test& t) {
  Window window = t.window(CacheMode::always);
  t.expect_content(t.read(window, 10, 20), 10, "first read");
  t.expect_content(t.read(window, 10, 20), 10, "second read");
  t.expect_content(t.read(window, 15, 5), 15, "part of what was read");
  const wherry_win_statistics s = window.statistics();
  t.checks.that(s.compulsory_misses == 1 && misses(s) == 1, "one miss");
  t.checks.that(s.full_hits == 2, "two hits");
  t.checks.that(s.bytes_fetched == 160 && s.bytes_saved == 200, "bytes fetched and saved");
  t.checks.that(s.flushes_saved == 2, "flushes with nothing to complete are saved");
  t.end(window);
}

void partial_hit_fetches_the_rest(Test& t) {
  Window window = t.window(CacheMode::always);
  t.read(window, 100, 50);
  t.expect_content(t.read(window, 120, 50), 120, "half of it was read before");
  const wherry_win_statistics s = window.statistics();
  t.checks.that(s.partial_hits == 1, "a partial hit");
  t.checks.that(s.bytes_fetched == 400 + 160, "only what is missing is fetched");
  t.end(window);
}

void transparent_joins_and_forgets(Test& t) {
  Window window = t.window(CacheMode::transparent);
  std::vector<double> a(20), b(20);
  window.get(a, t.next, 0);
  window.get(b, t.next, 0);
  window.flush(t.next);
  t.expect_content(a, 0, "the first of two gets");
  t.expect_content(b, 0, "the second of two gets");
  t.checks.that(window.statistics().pending_hits == 1, "two gets of the same data are one");
  t.checks.that(window.statistics().bytes_fetched == 160, "and fetch it once");
  t.read(window, 0, 20);
  t.checks.that(window.statistics().invalidated_misses == 1, "a flush ends what is valid");
  t.checks.that(window.statistics().full_hits == 0, "nothing is valid afterwards");
  t.end(window);
}

/// Others' writes are seen in transparent mode at once, in user mode after invalidate().
template <CacheMode mode>
void others_write(Test& t) {
  Window window = t.window(mode);
  const int before = (t.rank + t.size - 1) % t.size;
  t.read(window, 0, 4);
  MPI_Barrier(MPI_COMM_WORLD);
  const double changed = 7;
  window.put({&changed, 1}, before, 2);
  window.flush(before);
  MPI_Barrier(MPI_COMM_WORLD);
  if (mode == CacheMode::user && t.size > 2) {
    t.checks.that(t.read(window, 2, 1)[0] == Test::content(t.next, 2), "valid until invalidate()");
    window.invalidate();
  }
  t.checks.that(t.read(window, 2, 1)[0] == changed, "others' writes are seen");
  t.end(window);
}

void own_writes_are_seen(Test& t) {
  Window window = t.window(CacheMode::always);
  t.read(window, 0, 100);
  const std::vector<double> written = {1, 2, 3};
  window.put(written, t.next, 50);
  window.flush(t.next);
  t.checks.that(t.read(window, 49, 5) ==
                    std::vector<double>({Test::content(t.next, 49), 1, 2, 3, Test::content(t.next, 53)}),
                "an own put is seen");
  t.checks.that(misses(window.statistics()) == 1, "and needs no fetch");
  window.accumulate(written, t.next, 50);
  window.flush(t.next);
  t.checks.that(t.read(window, 50, 3) == std::vector<double>({2, 4, 6}), "an own accumulate is seen");
  t.checks.that(window.statistics().bytes_fetched == 800 + 24, "and is fetched");
  // What races with a put may be old, but is not kept.
  std::vector<double> racing(3);
  window.put(written, t.next, 500);
  window.get(racing, t.next, 500);
  window.flush(t.next);
  t.checks.that(t.read(window, 500, 3) == written, "a get that races with a put is not remembered");
  t.end(window);
}

/// No more memory than allowed, and right all the same.
void small_ceiling(Test& t) {
  for (std::size_t i = 0; i < values; ++i) t.mine[i] = Test::content(t.rank, i);
  Window window = Window::create(MPI_COMM_WORLD, t.mine,
                                 {.mode = CacheMode::always, .ceiling_bytes = 65536, .bypass = false});
  window.lock_all();
  std::vector<std::vector<double>> pending;
  for (std::size_t i = 0; i < 4000; ++i) {
    pending.emplace_back(1 + i % 97);
    window.get(pending.back(), t.next, static_cast<long long>(i * 31 % 900));
  }
  window.flush(t.next);
  for (std::size_t i = 0; i < pending.size(); ++i)
    t.expect_content(pending[i], i * 31 % 900, "4000 pending gets");
  t.checks.that(window.statistics().bytes <= 65536, "more memory than allowed");
  t.end(window);
}

/// The error class of a call on a window whose errors are returned.
template <class Call>
int class_of(Call call) {
  try {
    call();
  } catch (const wherry::mpi_error& error) {
    return error.error_class();
  }
  return MPI_SUCCESS;
}

void bad_ranges(Test& t) {
  Window window = t.window(CacheMode::always);
  std::vector<double> into(10, -1);
  for (const long long displacement : {-1LL, 995LL, 1LL << 40, 1LL << 61}) {
    t.checks.that(class_of([&] { window.get(into, t.next, displacement); }) == MPI_ERR_RMA_RANGE,
                  "a get outside of the memory is no error");
    t.checks.that(class_of([&] { window.put(into, t.next, displacement); }) == MPI_ERR_RMA_RANGE,
                  "a put outside of the memory is no error");
  }
  window.flush(t.next);
  t.checks.that(into == std::vector<double>(10, -1), "a refused get wrote something");
  t.expect_content(t.read(window, 990, 10), 990, "the last values");
  t.end(window);
}

/// Programs read to one place several times before they flush, which MPI forbids: the same bytes are right, and others
/// not remembered.
template <CacheMode mode>
void places_read_again(Test& t) {
  Window window = t.window(mode);
  std::vector<double> ghost(100), anywhere(1);
  window.get(ghost, t.next, 200);
  window.get(std::span(ghost).subspan(7, 50), t.next, 207);
  for (int i = 0; i < 50; ++i) window.get(anywhere, t.next, 400 + i);
  window.flush(t.next);
  t.expect_content(ghost, 200, "what was read twice to one place");
  t.expect_content(t.read(window, 200, 100), 200, "what was read twice to one place, later");
  t.expect_content(t.read(window, 400, 50), 400, "what was read to one place from many");
  t.end(window);
}

/// What is wrong with a type is the library's to say, and by the window's error handler.
void types_that_are_not_committed(Test& t) {
  Window window = t.window(CacheMode::always);
  MPI_Win plain = MPI_WIN_NULL;
  MPI_Win_create(t.mine.data(), 8 * static_cast<MPI_Aint>(t.mine.size()), 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &plain);
  MPI_Win_set_errhandler(plain, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, plain);
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 5, MPI_DOUBLE, &gaps);
  double into[15];
  int mine = MPI_SUCCESS, theirs = MPI_SUCCESS;
  MPI_Error_class(wherry_win_get(into, 3, MPI_DOUBLE, t.next, 0, 1, gaps, window.handle()), &mine);
  MPI_Error_class(MPI_Get(into, 3, MPI_DOUBLE, t.next, 0, 1, gaps, plain), &theirs);
  t.checks.that(mine == theirs, "a type that is not committed");
  MPI_Type_free(&gaps);
  MPI_Win_unlock_all(plain);
  MPI_Win_free(&plain);
  t.end(window);
}

void bad_options(Test& t) {
  using Options = wherry::WindowOptions;
  const std::pair<Options, const char*> wrong_options[] = {{Options{.ceiling_bytes = 100}, "65536"},
                                                           {Options{.block_bytes = 1000}, "power of two"},
                                                           {Options{.node_bytes = 100}, "65536"}};
  for (const auto& [options, what] : wrong_options) {
    std::string problem;
    try {
      Window::create(MPI_COMM_WORLD, t.mine, options);
    } catch (const wherry::usage_error& error) {
      problem = error.what();
    }
    t.checks.that(problem.find(what) != problem.npos, "a wrong number of bytes is accepted");
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const char* const wrong[][2] = {{"wherry_cache", "transparant"},  {"wherry_cache_ceiling", "1K"},
                                  {"wherry_cache_entries", "many"}, {"wherry_cache_block", "1000"},
                                  {"wherry_cache_block", "32"},     {"wherry_cache_node", "1K"},
                                  {"wherry_cache_node", "yes"},     {CLAMPI_MODE, "sometimes"},
                                  {"wherry_cache_node", "1025G"},   {"wherry_cache_ceiling", "1025G"}};
  int giver = 0;  // the others give another value
  for (const auto& [key, value] : wrong) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (giver++ % t.size == t.rank) MPI_Info_set(info, key, value);
    MPI_Win win = MPI_WIN_NULL;
    const int code = wherry_win_create(t.mine.data(), 8, 8, info, comm, &win);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    t.checks.that(error_class == MPI_ERR_INFO_VALUE && win == MPI_WIN_NULL, "a wrong info value is accepted");
    MPI_Info_free(&info);
  }
  MPI_Comm_free(&comm);
  wherry_win_statistics statistics;
  wherry_win_adjustment adjustment;
  int count = 0;
  t.checks.that(wherry_win_invalidate(MPI_WIN_NULL) == MPI_ERR_WIN &&
                    wherry_win_get_statistics(MPI_WIN_NULL, &statistics) == MPI_ERR_WIN &&
                    wherry_win_get_adjustments(MPI_WIN_NULL, 1, &adjustment, &count) == MPI_ERR_WIN &&
                    wherry_win_is_cached(MPI_WIN_NULL) == 0,
                "no window passes for one");
}

/// A program written for CLaMPI, in its user-defined mode.
void by_clampi(Test& t) {
  std::vector<int> mine(64);
  std::iota(mine.begin(), mine.end(), 100 * t.rank);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, CLAMPI_MODE, CLAMPI_USER_DEFINED);
  MPI_Info_set(info, "wherry_cache_bypass", "0");
  CMPI_Win win = MPI_WIN_NULL;
  CMPI_Win_create(mine.data(), 256, 4, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  t.checks.that(wherry_win_is_cached(win) == 1, "CMPI_Win_create makes no cached window");
  CMPI_Win_lock_all(0, win);
  int got[2] = {};
  for (int& value : got) {
    CMPI_Get(&value, 1, MPI_INT, t.next, 5, 1, MPI_INT, win);
    CMPI_Win_flush(t.next, win);
    t.checks.that(value == 100 * t.next + 5, "CMPI_Get");
  }
  wherry_win_statistics s;
  wherry_win_get_statistics(win, &s);
  t.checks.that(s.full_hits == 1 && misses(s) == 1, "CMPI_Get remembers");
  CMPI_Win_invalidate(win);
  CMPI_Get(&got[0], 1, MPI_INT, t.next, 5, 1, MPI_INT, win);
  CMPI_Win_flush(t.next, win);
  wherry_win_get_statistics(win, &s);
  t.checks.that(s.invalidated_misses == 1, "CMPI_Win_invalidate forgets");
  CMPI_Win_unlock_all(win);
  CMPI_Win_free(&win);
  t.checks.that(win == MPI_WIN_NULL, "CMPI_Win_free");
}

/// Open MPI 4 cannot make a window of one rank everywhere.
void check_alone(Test& t) {
  MPI_Comm self = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  try {
    const Window alone = Window::create(self, t.mine);
    t.checks.that(!alone.is_cached(), "a window of one rank is cached");
  } catch (const wherry::mpi_error& error) {
    if (t.rank == 0) std::printf("no window of one rank here: %s\n", error.what());
  }
  MPI_Comm_free(&self);
}

void not_cached(Test& t) {
  Window off = Window::create(MPI_COMM_WORLD, t.mine, {.mode = CacheMode::off});
  t.checks.that(!off.is_cached(), "a window that is off is cached");
  check_alone(t);
  t.checks.that(wherry_win_is_cached(MPI_WIN_NULL) == 0, "no window is cached");
  Window own = t.window(CacheMode::always);
  double value = 0;
  own.get({&value, 1}, t.rank, 3);
  own.flush(t.rank);
  t.checks.that(value == Test::content(t.rank, 3) && own.statistics().gets_passed == 1,
                "gets of the own rank are native");
  t.end(own);
}

void allocated_and_moved(Test& t) {
  Window made = Window::allocate(MPI_COMM_WORLD, 10, {.mode = CacheMode::user, .bypass = false});
  Window window = std::move(made);
  t.checks.that(made.handle() == MPI_WIN_NULL && window.local().size() == 10, "a moved window");
  for (double& value : window.local()) value = t.rank;
  window.fence();
  std::vector<double> into(10);
  window.get(into, t.next, 0);
  window.fence();
  t.checks.that(into == std::vector<double>(10, t.next), "an allocated window");
  window.get(into, t.next, 0);
  window.fence();
  t.checks.that(window.statistics().full_hits == 1, "a hit between fences");
}

}  // namespace

int main(int argc, char** argv) {
  return test::run_each<Test>(
      argc, argv,
      {second_read_is_a_hit, partial_hit_fetches_the_rest, transparent_joins_and_forgets,
       others_write<CacheMode::transparent>, others_write<CacheMode::user>, own_writes_are_seen,
       places_read_again<CacheMode::transparent>, places_read_again<CacheMode::always>, small_ceiling,
       bad_ranges, types_that_are_not_committed, bad_options, by_clampi, not_cached, allocated_and_moved});
}
