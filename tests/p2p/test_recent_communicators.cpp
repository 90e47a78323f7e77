#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/recent_communicators.hpp"

using wherry::run::CallsWhileFreed;
using wherry::run::RecentCommunicators;

namespace {

struct State {
  MPI_Comm comm;
};
using Recent = RecentCommunicators<State>;

MPI_Comm handle(std::uintptr_t number) { return reinterpret_cast<MPI_Comm>(number * 8); }

/// The second of two communicators that have one place: to put it takes the first one's.
MPI_Comm rival_of(MPI_Comm comm) {
  for (std::uintptr_t number = 2;; ++number) {
    Recent recent(CallsWhileFreed::stay_away);
    State first{comm}, second{handle(number)};
    recent.put(comm, &first);
    recent.put(second.comm, &second);
    if (second.comm != comm && recent.find(comm) == nullptr) return second.comm;
  }
}

}  // namespace

TEST_CASE("recent communicators: a handle that was freed and comes again") {
  for (const CallsWhileFreed calls : {CallsWhileFreed::come, CallsWhileFreed::stay_away}) {
    Recent recent(calls);
    State old{handle(1)}, fresh{handle(1)};
    recent.put(old.comm, &old);
    CHECK(recent.find(old.comm) == &old);
    recent.forget(old.comm, &old);
    CHECK(recent.find(old.comm) == nullptr);
    recent.put(fresh.comm, &fresh);
    CHECK(recent.find(fresh.comm) == (calls == CallsWhileFreed::come ? nullptr : &fresh));
  }
}

TEST_CASE("recent communicators: thousands that were freed cost the others nothing") {
  Recent recent(CallsWhileFreed::stay_away);
  for (std::uintptr_t number = 1; number <= 10'000; ++number) {
    State state{handle(number)};
    recent.put(state.comm, &state);
    CHECK(recent.find(state.comm) == &state);
    recent.forget(state.comm, &state);
  }
}

TEST_CASE("recent communicators: threads that put others meanwhile never make one be taken for another") {
  constexpr int rounds = 200'000;
  State first{handle(1)}, second{rival_of(first.comm)};
  Recent recent(CallsWhileFreed::stay_away);
  std::mutex lock;
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (State* const state : {&first, &second})
    readers.emplace_back([&, state] {
      while (!done)
        if (State* const found = recent.find(state->comm); found != nullptr && found != state) ++wrong;
    });
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard guard(lock);
    State& state = i % 2 == 0 ? first : second;
    recent.put(state.comm, &state);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}
