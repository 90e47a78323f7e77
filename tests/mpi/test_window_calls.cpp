// What a cached window asks of the library: nothing for hits, but to make progress now and then; no flush when there is
// nothing to complete; and plain gets, where those are cheaper.
//
// ranks: 2 3
#include <mpi.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <string>
#include <vector>

#include "counted_windows.hpp"
#include "learning_ranks.hpp"
#include "window/options.hpp"
#include "window/windows.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

window::Options cached(cache::Mode mode, bool bypass) {
  window::Options options;
  options.cache.mode = mode;
  options.bypass = bypass;
  return options;
}

void hits_call_nothing(Ranks& ranks) {
  CountedWindow w(cached(cache::Mode::user_defined, false), 4096);
  const int next = (ranks.rank + 1) % ranks.size;
  std::byte into[64];
  w.get(into, next, 128, 64);
  w.flush(next);
  ranks.expect(w.gets == 1 && w.flushes == 1, "the first get is native");
  probes = own_gets = 0;
  for (int i = 0; i < 640; ++i) {
    w.get(into, next, 128, 64);
    w.flush(next);
    w.flush_all();
  }
  ranks.expect(w.gets == 1 && own_gets == 0, "a hit fetches nothing");
  ranks.expect(w.flushes == 1, "a flush with nothing to complete is not native");
  ranks.expect(probes == 3 * 640 / 128, "hits let the library make progress");
  ranks.expect(into[63] == CountedWindow::value(next, 128 + 63), "the data are wrong");
}

/// A get with a part cached fetches the rest by one get, also where that begins at no multiple of anything.
void parts_are_fetched(Ranks& ranks) {
  CountedWindow w(cached(cache::Mode::user_defined, false), 4096);
  const int next = (ranks.rank + 1) % ranks.size;
  std::vector<std::byte> into(300);
  w.get(into.data(), next, 100, 50);
  w.flush(next);
  own_gets = 0;
  w.get(into.data(), next, 51, 300);
  w.flush(next);
  ranks.expect(own_gets == 1 && w.gets == 1, "what is missing is not one get");
  bool right = true;
  for (std::size_t i = 0; i < into.size(); ++i) right &= into[i] == CountedWindow::value(next, 51 + i);
  ranks.expect(right, "the parts do not fit together");
}

/// A get that overtakes an own put brings what was there before, and that is not kept.
void races_are_not_remembered(Ranks& ranks) {
  CountedWindow w(cached(cache::Mode::always_cache, false), 4096);
  const int next = (ranks.rank + 1) % ranks.size;
  const std::vector<std::byte> written(16, std::byte{0xee});
  std::vector<std::byte> into(16);
  w.put_and_flush_late(written.data(), next, 64, 16, [&] { w.get(into.data(), next, 64, 16); });
  w.get(into.data(), next, 64, 16);
  w.flush(next);
  ranks.expect(into == written, "what a get brought that raced with a put is remembered");
}

void windows_are_forgotten(Ranks& ranks) {
  const mpi::Api api = counted_api();
  window::Windows windows(api, note_told);
  MPI_Win one = MPI_WIN_NULL, other = MPI_WIN_NULL;
  const auto make = [&](MPI_Win* win) {
    PMPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
    windows.add(*win, MPI_COMM_WORLD, {0, 1}, cached(cache::Mode::always_cache, true));
  };
  make(&other);
  for (int i = 0; i < 100; ++i) {
    make(&one);
    const MPI_Win before = one;
    ranks.expect(windows.find(one) != nullptr && windows.find(one)->win() == one, "a window is not known");
    PMPI_Win_free(&one);
    ranks.expect(windows.find(before) == nullptr, "a window that is gone is known");
    ranks.expect(windows.find(MPI_WIN_NULL) == nullptr, "no window is known");
  }
  ranks.expect(windows.find(other) != nullptr, "a window is forgotten with another");
  PMPI_Win_free(&other);
}

/// Of what a rank was told, how many ranks were told something; collective.
int ranks_told() {
  const int mine = told.empty() ? 0 : 1;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void without_memory_all_is_native(Ranks& ranks) {
  window::Options options = cached(cache::Mode::user_defined, false);
  options.cache.ceiling_bytes = std::size_t{1} << 60;  // addresses that no process has
  CountedWindow w(options, 4096);
  const int next = (ranks.rank + 1) % ranks.size;
  std::byte into[64];
  for (int i = 0; i < 3; ++i) {
    w.get(into, next, 128, 64);
    w.flush(next);
  }
  ranks.expect(w.gets == 3 && into[63] == CountedWindow::value(next, 128 + 63), "gets without a cache");
  ranks.expect(w.known()->why_not() == window::Uncached::no_memory, "that there is no cache is not said");
  ranks.expect(w.known()->passed() == 3, "gets without a cache are not counted");
}

std::size_t twice_the_shared_memory() {
  struct statvfs all{};
  return ::statvfs("/dev/shm", &all) == 0 ? 2 * all.f_blocks * all.f_frsize : 0;
}

void memory_that_a_node_lacks_is_not_shared(Ranks& ranks) {
  told.clear();
  window::Options options = cached(cache::Mode::always_cache, false);
  options.node_bytes = twice_the_shared_memory();
  CountedWindow w(options, 4096);
  ranks.expect(!w.window()->shares(), "memory is shared that is not there");
  ranks.expect(ranks_told() == 1, "that there is no memory is not told once");
  ranks.expect(told.empty() || told.front().find("wherry_cache_node") != std::string::npos, "what to do");
}

/// What a window tells of itself it understands: such an info may be given to another.
void all_that_is_told_is_known(Ranks& ranks) {
  long keys = 0;
  const auto check = [&](const CountedWindow& window) {
    window::report(*window.known(), [&](const std::string& key, const std::string&) {
      const auto is = [&](std::string_view known) { return known == key; };
      ranks.expect(std::ranges::any_of(window::told_keys, is) || std::ranges::any_of(window::asked_keys, is),
                   key.c_str());
      ++keys;
    });
  };
  window::Options options = cached(cache::Mode::always_cache, false);
  options.node_bytes = std::size_t{64} << 10;
  options.cache.storage_bytes = 4096;
  CountedWindow window(options, 1 << 20);
  std::byte into[64];
  const int next = (ranks.rank + 1) % ranks.size;
  for (int i = 0; i < 4 * 4096; ++i) {
    window.get(into, next, 64 * (i % 4096), 64);
    window.flush(next);
  }
  check(window);
  ranks.expect(keys == 13, "what is told of a window that shares and has grown");
  options.caching = false;
  const CountedWindow off(options, 64);
  check(off);
  ranks.expect(keys == 13 + 3, "what is told of a window that is not cached");
}

/// What is wrong on one rank is told there, and the others cache.
void problems_of_one_rank_are_told(Ranks& ranks) {
  told.clear();
  window::Options options = cached(cache::Mode::always_cache, false);
  const bool wrong = ranks.rank == ranks.size - 1;
  if (wrong) options.problem = "a problem";
  if (!wrong) options.remark = "a remark";
  MPI_Win win = MPI_WIN_NULL;
  {
    const mpi::Api api = counted_api();
    window::Windows windows(api, note_told);
    PMPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    windows.add(win, MPI_COMM_WORLD, {0, 1}, options);
    ranks.expect((windows.find(win) == nullptr) == wrong, "a window whose info cannot be is cached");
    PMPI_Win_free(&win);
  }
  ranks.expect(ranks_told() == 2, "problems and remarks are told once each");
  if (wrong) ranks.expect(told.size() == 1 && told.front().starts_with("a problem; "), "the problem");
  if (ranks.rank == 0) ranks.expect(told == std::vector<std::string>{"a remark"}, "the remark");
}

/// Gets that never repeat, at 200 ns each: the cache only costs. Those that always do are worth it. Over a network all
/// are.
void account_decides(Ranks& ranks) {
  const auto asked = [](float plain_s, bool repeats, bool may_pause = true, std::uint32_t bytes = 8) {
    window::CostBenefit cost_benefit;
    long asked = 0;
    cost_benefit.timed({.call_s = plain_s, .bytes = static_cast<float>(bytes)});
    for (int i = 0; i < 100000; ++i) {
      if (!cost_benefit.asks_cache()) continue;
      ++asked;
      if (repeats && i % 8 != 0) cost_benefit.hit(bytes);
      else cost_benefit.missed(bytes), cost_benefit.settle(may_pause);
    }
    return asked;
  };
  ranks.expect(asked(200e-9F, false) < 10000, "the cache is asked though it only costs");
  ranks.expect(asked(200e-9F, false) >= 2 * 1024, "the cache gets no second try");
  ranks.expect(asked(200e-9F, true) == 100000, "the cache is given up though it saves");
  ranks.expect(asked(10e-6F, false) == 100000, "the cache is given up though gets are slow");
  ranks.expect(asked(10e-6F, false, true, 1u << 20) == 100000, "the cache is given up though gets are large");
  ranks.expect(asked(200e-9F, false, false) == 100000, "the cache is given up though that is not wanted");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  hits_call_nothing(ranks);
  parts_are_fetched(ranks);
  races_are_not_remembered(ranks);
  windows_are_forgotten(ranks);
  without_memory_all_is_native(ranks);
  memory_that_a_node_lacks_is_not_shared(ranks);
  problems_of_one_rank_are_told(ranks);
  all_that_is_told_is_known(ranks);
  account_decides(ranks);
  long all = 0;
  MPI_Allreduce(&ranks.failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
