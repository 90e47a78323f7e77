// A collective as a coroutine: one text for blocking calls and for nonblocking operations.
#pragma once

#include <mpi.h>

#include <coroutine>
#include <utility>

namespace wherry::run {

// Steps: work that may have to wait for other ranks, and can be left meanwhile.

/// Something that goes on until it has to wait, and is asked again.
class Step {
 public:
  virtual ~Step() = default;
  /// Goes on as far as possible. True: it is over, and must not be asked again.
  virtual bool advance() = 0;
  /// Once it is over: MPI_SUCCESS or the first error.
  virtual int code() const = 0;
};

/// A coroutine that awaits steps and returns an MPI code. Nothing of it runs before the first advance(). If all that it
/// awaits is over at once, as it is for those who wait in the library, it runs through without a pause.
class [[nodiscard]] Work final : public Step {
 public:
  struct promise_type {
    Step* awaited = nullptr;
    int code = MPI_SUCCESS;

    Work get_return_object() { return Work(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_value(int result) { code = result; }
    void unhandled_exception() { throw; }

    struct Awaiting {
      Step& step;
      bool await_ready() { return step.advance(); }
      void await_suspend(std::coroutine_handle<promise_type> self) { self.promise().awaited = &step; }
      int await_resume() const { return step.code(); }
    };
    Awaiting await_transform(Step& step) { return {step}; }
  };

  Work(Work&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  Work& operator=(Work&&) = delete;
  ~Work() override {
    if (self_) self_.destroy();
  }

  bool advance() override {
    promise_type& promise = self_.promise();
    if (promise.awaited != nullptr && !promise.awaited->advance()) return false;
    promise.awaited = nullptr;
    self_.resume();
    return self_.done();
  }
  int code() const override { return self_.promise().code; }

  /// To the end, for work that pauses nowhere.
  int run() {
    advance();
    return code();
  }

 private:
  explicit Work(std::coroutine_handle<promise_type> self) : self_(self) {}

  std::coroutine_handle<promise_type> self_;
};

}  // namespace wherry::run
