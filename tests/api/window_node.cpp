// Cached windows whose ranks on a node read for each other: exact counts of what is found there, and what must not be.
//
// Runs under mpiexec at 2 or more ranks of one node. The last rank is read; rank 0 reads first, then those between, of
// which there are none at 2 ranks.
#include <mpi.h>
#include <wherry/window.hpp>

#include <array>
#include <utility>
#include <vector>

#include "ring.hpp"

namespace {

using wherry::CacheMode;
using Window = wherry::Window<double>;

constexpr std::size_t values = 4000;
constexpr std::size_t length = 32;  // of a range: 256 bytes
constexpr unsigned long long range_bytes = length * sizeof(double);
constexpr std::size_t node_bytes = std::size_t{1} << 20;

struct Test : test::Ring {
  const int last = size - 1;
  const bool is_first = rank == 0, is_later = rank > 0 && rank < last;
  std::vector<double> mine = std::vector<double>(values);

  Window window(const wherry::WindowOptions& options) {
    for (std::size_t i = 0; i < values; ++i) mine[i] = static_cast<double>(i);
    Window made = Window::create(MPI_COMM_WORLD, mine, options);
    made.lock_all();
    return made;
  }
  Window window(CacheMode mode, std::size_t bytes = node_bytes) {
    return window({.mode = mode, .bypass = false, .node_bytes = bytes});
  }
  void end(Window& window) {
    window.unlock_all();
    wait();
  }
  static void wait() { MPI_Barrier(MPI_COMM_WORLD); }

  /// Range i of the last rank's memory.
  std::vector<double> read(Window& window, std::size_t i, std::size_t count = length) {
    std::vector<double> into(count);
    window.get(into, last, static_cast<long long>(i * length));
    window.flush(last);
    return into;
  }
  void expect_content(Window& window, std::size_t i, std::size_t count = length) {
    const std::vector<double> got = read(window, i, count);
    bool right = true;
    for (std::size_t k = 0; k < count; ++k) right &= got[k] == static_cast<double>(i * length + k);
    checks.that(right, "wrong data");
  }
  /// Rank 0 does it, and when that is over the others that read.
  template <class Do>
  void in_turn(Do&& act) {
    if (is_first) act();
    wait();
    if (is_later) act();
    wait();
  }

  void expect_found(const Window& window, unsigned long long found, const char* what) {
    checks.that(window.statistics().node_found == found, what);
  }
};

void one_reads_for_all(Test& t) {
  constexpr std::size_t ranges = 20;
  Window window = t.window(CacheMode::always);
  for (int pass = 0; pass < 2; ++pass)
    t.in_turn([&] {
      for (std::size_t i = 0; i < ranges; ++i) t.expect_content(window, i);
    });
  const wherry_win_statistics s = window.statistics();
  const unsigned long long fetched = t.is_first ? ranges : 0, found = t.is_later ? ranges : 0;
  t.checks.that(s.node_found == found, "the others find what rank 0 has read");
  t.checks.that(s.node_offered == fetched && s.node_refused == 0, "rank 0 offers what it has read");
  t.checks.that(s.bytes_fetched == fetched * range_bytes, "nothing is fetched twice on a node");
  t.checks.that(s.compulsory_misses == fetched + found, "what is found is a miss of the own cache");
  t.checks.that(s.full_hits == fetched + found, "and is in the own cache then");
  t.checks.that(s.bytes_saved == (fetched + 2 * found) * range_bytes, "bytes saved");
  t.checks.that(s.flushes_saved == fetched + 2 * found, "what is found needs no flush");
  t.end(window);
}

void beginnings_are_found(Test& t) {
  Window window = t.window(CacheMode::always);
  if (t.is_first) t.expect_content(window, 3);
  t.wait();
  if (t.is_later) t.expect_content(window, 3, length / 2);
  t.expect_found(window, t.is_later ? 1 : 0, "the beginning of a range is found");
  // The rest of it is another range.
  if (t.is_later && t.rank == 1) t.expect_content(window, 3);
  t.expect_found(window, t.is_later ? 1 : 0, "the end of a range is not found");
  t.end(window);
}

void large_ranges_are_not_shared(Test& t) {
  Window window = t.window(CacheMode::always);
  t.in_turn([&] { t.expect_content(window, 1, 4 * length); });
  const wherry_win_statistics s = window.statistics();
  const unsigned long long fetched = t.is_first || t.is_later ? 1 : 0;
  t.checks.that(s.node_found == 0 && s.bytes_fetched == 4 * fetched * range_bytes,
                "a range of 1 KiB is shared");
  t.checks.that(s.node_offered == fetched && s.node_refused == fetched, "and is not refused");
  t.end(window);
}

/// What others wrote is seen when all have invalidated, and not before.
void phases(Test& t) {
  Window window = t.window(CacheMode::user);
  if (t.is_first) t.expect_content(window, 0), t.expect_content(window, 1);
  t.wait();
  const double news = -1;
  if (t.rank == t.last) {
    for (const long long at : {0, 32}) window.put({&news, 1}, t.last, at);
    window.flush(t.last);
  }
  t.wait();
  if (t.is_later) t.expect_content(window, 0);
  t.expect_found(window, t.is_later ? 1 : 0, "what the node has read is valid until all invalidate");
  t.wait();
  window.invalidate();
  if (t.rank == 1 && t.is_later) {
    t.checks.that(t.read(window, 1)[0] == news, "what was read before an invalidation is found after it");
    t.expect_found(window, 1, "a range of an earlier phase is found");
  }
  t.wait();
  if (t.is_first) {
    t.checks.that(t.read(window, 1)[0] == news, "what was read before an invalidation is a hit after it");
    t.expect_found(window, t.size > 2 ? 1 : 0, "what another rank has read in the same phase is found");
  }
  t.end(window);
}

/// A rank that has written does not read what others may have read before.
void own_writes(Test& t) {
  Window window = t.window(CacheMode::user);
  if (t.is_first) t.expect_content(window, 0), t.expect_content(window, 1);
  t.wait();
  const bool writes = t.rank == 1 && t.is_later;
  const double news = -1;
  if (writes) {
    window.put({&news, 1}, t.last, 2);
    t.expect_content(window, 1);  // the put is under way
    window.flush(t.last);
    t.checks.that(t.read(window, 0)[2] == news, "an own put is not seen");
  }
  t.expect_found(window, 0, "a rank that has written uses the node's cache");
  t.wait();
  window.invalidate();
  const bool written = t.size > 2;
  if (t.is_first) t.checks.that((t.read(window, 0)[2] == news) == written, "another rank's put is not seen");
  t.wait();
  if (writes) t.checks.that(t.read(window, 0)[2] == news, "an own put is lost");
  t.expect_found(window, writes ? 1 : 0,
                 "a rank that wrote in an earlier phase does not use the node's cache");
  t.end(window);
}

/// A write that is not complete when its phase ends counts for the next one, too.
void writes_across_phases(Test& t) {
  Window window = t.window(CacheMode::user);
  const bool writes = t.rank == 1 && t.is_later;
  const double news = -1;
  if (writes) window.put({&news, 1}, t.last, 2);
  window.invalidate();
  if (writes) window.flush(t.last);
  t.wait();
  if (t.is_first) t.read(window, 0), t.expect_content(window, 1);
  t.wait();
  if (writes) {
    t.checks.that(t.read(window, 0)[2] == news, "an own put is not seen");
    t.expect_content(window, 1);
    t.expect_found(window, 0, "a rank whose write has ended in this phase uses the node's cache");
  }
  t.end(window);
}

/// Ranges of derived types at both ends, and gets by request.
void shapes_and_requests(Test& t) {
  Window window = t.window(CacheMode::always);
  const MPI_Win win = window.handle();
  // 8 of every 16 values, 10 times.
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(10, 8, 16, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  std::array<double, 160> into;
  t.in_turn([&] {
    into.fill(-1);
    wherry_win_get(into.data(), 1, gaps, t.last, 320, 1, gaps, win);
    window.flush(t.last);
    bool right = true;
    for (std::size_t i = 0; i < into.size(); ++i)
      right &= into[i] == (i % 16 < 8 ? static_cast<double>(320 + i) : -1);
    t.checks.that(right, "a get with gaps at both ends");
  });
  t.expect_found(window, t.is_later ? 10 : 0, "each block of a type is found");
  if (t.is_first) t.expect_content(window, 2);
  t.wait();
  if (t.is_later) {
    MPI_Request request = MPI_REQUEST_NULL;
    wherry_win_rget(into.data(), length, MPI_DOUBLE, t.last, 2 * length, length, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    t.checks.that(into[5] == static_cast<double>(2 * length + 5), "a get by request");
    t.expect_found(window, 11, "what is asked for by a request is found");
    t.checks.that(window.statistics().bytes_fetched == 0, "all of it is there");
  }
  MPI_Type_free(&gaps);
  t.end(window);
}

/// Where the ranks of a node have nothing to share.
void nothing_is_shared(Test& t) {
  const auto check = [&](Window window, const char* what) {
    t.in_turn([&] { t.expect_content(window, 0); });
    const wherry_win_statistics s = window.statistics();
    t.checks.that(s.node_found == 0 && s.node_offered == 0 && s.node_refused == 0, what);
    t.end(window);
  };
  check(t.window(CacheMode::transparent), "what is valid for an epoch is shared");
  check(t.window(CacheMode::always, 0), "something is shared though nobody asked for it");
  check(t.window(CacheMode::always, t.is_first ? node_bytes : 0), "ranks share though others do not want it");
  check(t.window(t.is_first ? CacheMode::off : CacheMode::always), "ranks share though one of them is off");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Test t;
  one_reads_for_all(t);
  beginnings_are_found(t);
  large_ranges_are_not_shared(t);
  phases(t);
  own_writes(t);
  writes_across_phases(t);
  shapes_and_requests(t);
  nothing_is_shared(t);
  const int code = t.checks.exit_code();
  MPI_Finalize();
  return code;
}
