// What hits are said to have saved, by each way to complete a get.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "window/rig.hpp"

using namespace window_test;

namespace {

constexpr double least_s = 0.002;  // of a completion that has something to complete; a thread sleeps no less
constexpr int hits = 10;

/// Completes what is under way to rank 1, of a library that takes its time.
struct Completion {
  std::string name;
  std::function<int(window::Window&, const window::Native&)> call;
};

const std::vector<Completion> timed{
    {"flush", [](auto& window, auto& native) { return window.flush(1, native); }},
    {"flush_local", [](auto& window, auto& native) { return window.flush_local(1, native); }},
    {"flush_all", [](auto& window, auto& native) { return window.flush_all(native); }},
    {"flush_local_all", [](auto& window, auto& native) { return window.flush_local_all(native); }},
    {"unlock", [](auto& window, auto& native) { return window.unlock(1, native); }},
    {"unlock_all", [](auto& window, auto& native) { return window.unlock_all(native); }},
};

window::Options user(bool coalesces) {
  window::Options options;
  options.cache.mode = cache::Mode::user_defined;
  options.bypass = false;
  options.coalesces = coalesces;
  return options;
}

/// One get that is fetched, and then hits.
void read_again_and_again(Rig& rig, const Completion& completion) {
  std::byte into[16];
  for (int i = 0; i <= hits; ++i) {
    rig.get(into, sizeof into, 1, 64);
    completion.call(rig.window, [&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(least_s));
      return rig.library.flush_all();
    });
  }
}

}  // namespace

TEST_CASE("window: hits save what the get and its completion took, however it was completed") {
  for (const bool coalesces : {false, true})
    for (const Completion& completion : timed) {
      CAPTURE(completion.name);
      CAPTURE(coalesces);
      Rig rig(user(coalesces), 3, 4096);
      read_again_and_again(rig, completion);
      // A hit's own time goes off that.
      CHECK(rig.window.statistics().seconds_saved >= hits * (least_s - 1e-6));
    }
}

TEST_CASE("window: what waits for other ranks is not said to be saved") {
  Rig rig(user(false), 3, 4096);
  read_again_and_again(rig, {"fence", [](auto& window, auto& native) { return window.end_epoch(native); }});
  CHECK(rig.window.statistics().cache.full_hits == hits);
  CHECK(rig.window.statistics().seconds_saved == 0);
  // The time of a get that a fence has completed is no later flush's.
  read_again_and_again(rig, timed.front());
  CHECK(rig.window.statistics().seconds_saved == 0);
}

TEST_CASE("window: a time that is far too long is not what is usual") {
  window::TypicalTime time;
  CHECK(time.seconds() == 0);
  time.add(100);
  CHECK(time.seconds() == 100);
  time.add(2);
  CHECK(time.seconds() == 2);
  time.add(3);
  CHECK(time.seconds() == 3);
  for (const double next : {4, 5, 6, 7}) time.add(next);
  CHECK(time.seconds() == 5);
  time.add(1);  // in the place of the first
  CHECK(time.seconds() == 4);
  for (int i = 0; i < 4; ++i) time.add(50);
  CHECK(time.seconds() == 50);
}

TEST_CASE("window: the first times are taken, and then few") {
  window::TypicalTime time;
  int due = 0;
  for (int i = 0; i < 7; ++i) due += time.is_due();
  CHECK(due == 7);
  for (int i = 0; i < 1600; ++i) due += time.is_due();
  CHECK(due == 7 + 100);
}
