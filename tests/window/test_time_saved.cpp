// What hits are said to have saved, by each way to complete a get.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "window/rig.hpp"

using namespace window_test;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double completion_s = 0.002;  // of one that has something to complete; a thread sleeps no less
constexpr int hits = 10, together = 8;

struct Completion {
  std::string name;
  std::function<int(window::Window&, const window::Native&)> call;
};

const std::vector<Completion> flushes{
    {"flush", [](auto& window, auto& native) { return window.flush(1, native); }},
    {"flush_local", [](auto& window, auto& native) { return window.flush_local(1, native); }},
    {"flush_all", [](auto& window, auto& native) { return window.flush_all(native); }},
    {"flush_local_all", [](auto& window, auto& native) { return window.flush_local_all(native); }},
};
const std::vector<Completion> unlocks{
    {"unlock", [](auto& window, auto& native) { return window.unlock(1, native); }},
    {"unlock_all", [](auto& window, auto& native) { return window.unlock_all(native); }},
};
const Completion fence{"fence", [](auto& window, auto& native) { return window.end_epoch(native); }};

/// Completes what is under way to rank 1, of a library that takes its time; returns how long that took.
double complete(Rig& rig, const Completion& completion) {
  double taken_s = 0;
  completion.call(rig.window, [&] {
    const Clock::time_point begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(completion_s));
    const int code = rig.library.flush_all();
    taken_s = std::chrono::duration<double>(Clock::now() - begin).count();
    return code;
  });
  return taken_s;
}

/// Gets of so many ranges that lie apart, and what completes them.
double read(Rig& rig, int ranges, const Completion& completion, std::int64_t from = 0) {
  std::vector<std::byte> into(16 * static_cast<std::size_t>(ranges));
  for (int i = 0; i < ranges; ++i) rig.get(into.data() + 16 * i, 16, 1, from + 32 * i);
  return complete(rig, completion);
}

double saved_s(Rig& rig) { return rig.window.statistics().seconds_saved; }

}  // namespace

TEST_CASE("window: hits save their part of what the gets and their flush took") {
  for (const bool coalesces : {false, true})
    for (const Completion& completion : flushes) {
      CAPTURE(completion.name);
      CAPTURE(coalesces);
      Rig rig(user(coalesces), 3, 4096);
      const Clock::time_point begin = Clock::now();
      read(rig, together, completion);
      const double all_s = std::chrono::duration<double>(Clock::now() - begin).count();
      for (int i = 0; i < hits; ++i) read(rig, together, completion);
      // Of each hit its own time goes off, some nanoseconds. Calls of gets belong to one get each.
      CHECK(saved_s(rig) >= hits * (completion_s - together * 1e-6));
      CHECK(saved_s(rig) <= hits * together * (all_s / together + (all_s - completion_s)));
    }
}

TEST_CASE("window: an unlock that has nothing to complete takes its time, and that is not saved") {
  for (const Completion& completion : unlocks) {
    CAPTURE(completion.name);
    Rig rig(user(false), 3, 4096);
    const Clock::time_point begin = Clock::now();
    const double first_s = read(rig, 1, completion);
    const double all_s = std::chrono::duration<double>(Clock::now() - begin).count();
    CHECK(saved_s(rig) == 0);
    double least_s = first_s;
    for (int i = 0; i < hits; ++i) least_s = std::min(least_s, read(rig, 1, completion));
    CHECK(rig.window.statistics().cache.full_hits == hits);
    // The call of the get, and how much longer the first unlock took than those of hits.
    CHECK(saved_s(rig) <= hits * (all_s - least_s));
  }
}

TEST_CASE("window: what waits for other ranks is not said to be saved") {
  Rig rig(user(false), 3, 4096);
  for (int i = 0; i < together; ++i) read(rig, 1, fence, 64 * i);
  for (int i = 0; i < together; ++i) read(rig, 1, fence, 64 * i);
  CHECK(rig.window.statistics().cache.full_hits == together);
  CHECK(saved_s(rig) == 0);
  // What the fence has completed is no part of a later flush.
  read(rig, 1, flushes.front(), 64 * together);
  read(rig, 1, flushes.front(), 64 * together);
  CHECK(rig.window.statistics().cache.full_hits == together + 1);
  CHECK(saved_s(rig) == 0);
}

TEST_CASE("window: gets that fail say nothing of how long gets take") {
  Rig rig(user(false), 3, 4096);
  rig.library.fail_gets(true);
  for (int i = 0; i < together; ++i) read(rig, 1, flushes.front(), 64 * i);
  rig.library.fail_gets(false);
  for (int i = 0; i < 2; ++i) read(rig, 1, flushes.front());
  CHECK(rig.window.statistics().cache.full_hits == 1);
  CHECK(saved_s(rig) == 0);
}

TEST_CASE("window: a time that is far too long is not what is usual") {
  window::TypicalTime time;
  CHECK(time.seconds() == 0);
  time.add({100});
  CHECK(time.seconds() == 100);
  time.add({2});
  CHECK(time.seconds() == 2);
  for (const double next : {3, 4, 5}) time.add({next});
  CHECK(time.seconds() == 4);
  time.add({1});  // in the place of the first
  CHECK(time.seconds() == 3);
  for (int i = 0; i < 3; ++i) time.add({50});
  CHECK(time.seconds() == 50);
}

TEST_CASE("window: the first times are taken, and then few") {
  window::TypicalTime time;
  int due = 0;
  for (int i = 0; i < 5; ++i) due += time.is_due();
  CHECK(due == 5);
  for (int i = 0; i < 1600; ++i) due += time.is_due();
  CHECK(due == 5 + 100);
}

TEST_CASE("window: of a plain get counts what its completion takes beyond one that completes nothing") {
  window::TypicalTime idle;
  const window::PlainTime time{0.5, 3, 0.25, &idle};
  CHECK(time.seconds() == 0.5 + 3 * 0.25);
  idle.add({1});
  CHECK(time.seconds() == 0.5 + 2 * 0.25);
  for (int i = 0; i < 3; ++i) idle.add({4});
  CHECK(time.seconds() == 0.5);
}

TEST_CASE("window: a hit saves the time of a get of its own size, not of the block that was fetched") {
  constexpr std::int64_t block = 1 << 20;
  for (const std::size_t block_bytes : {std::size_t{0}, static_cast<std::size_t>(block)}) {
    CAPTURE(block_bytes);
    window::Options options = user(false);
    options.block_bytes = block_bytes;
    options.cache.storage_bytes = 16 * block;  // an entry takes a quarter at most
    Rig rig(options, 3, 2 * block);
    const Clock::time_point begin = Clock::now();
    read(rig, 1, flushes.front());
    const double all_s = std::chrono::duration<double>(Clock::now() - begin).count();
    for (int i = 0; i < hits; ++i) read(rig, 1, flushes.front());
    REQUIRE(rig.window.statistics().cache.full_hits == hits);
    const double fetched = block_bytes == 0 ? 16 : block;
    const double share = (8192 + 16) / (8192 + fetched);
    CHECK(saved_s(rig) >= hits * (share * completion_s - 1e-6));  // less the hits' own time
    CHECK(saved_s(rig) <= hits * share * all_s);
  }
}
