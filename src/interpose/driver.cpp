#include "interpose/driver.hpp"

#include <atomic>

#include "interpose/backend.hpp"

namespace wherry::interpose {
namespace {

int advance() {
  const Inside inside;
  return backend().runtime().advance();
}

/// Open MPI keeps a callback to the end.
void register_once(const mpi::Api& api) {
  static std::atomic<bool> registered = false;
  if (!registered.exchange(true)) api.Progress_register(advance);
}

// MPICH's answers, MPIX_ASYNC_NOPROGRESS and MPIX_ASYNC_DONE.
constexpr int go_on = 0, done = 1;

std::atomic<bool> polled = false;

/// MPICH keeps one as long as there is something to do. What is started while it goes either sees that it has gone, or is
/// seen by it.
int poll(void*) {
  advance();
  if (!backend().runtime().is_idle()) return go_on;
  polled = false;
  return backend().runtime().is_idle() || polled.exchange(true) ? done : go_on;
}

void poll_from_now(const mpi::Api& api) {
  constexpr int stream_null = 0x3c000000;  // MPIX_STREAM_NULL
  if (!polled.exchange(true)) api.Async_start(poll, nullptr, stream_null);
}

}  // namespace

std::function<void()> driver(const mpi::Api& api) {
  if (api.Progress_register != nullptr) return [&api] { register_once(api); };
  if (api.Async_start != nullptr) return [&api] { poll_from_now(api); };
  return {};
}

}  // namespace wherry::interpose
