// A collective with fixed arguments that the program starts by name, again and again.
#pragma once

#include <atomic>

#include "progress/operation.hpp"

namespace wherry::run {

class Plan final : public NonblockingOperation {
 public:
  /// tag: for good.
  Plan(std::shared_ptr<Communicator> c, int tag) : NonblockingOperation(std::move(c)), tag_(tag) {}

  /// Whether no execution is under way.
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  /// Of the last execution: MPI_SUCCESS or the first error.
  int code() const { return code_; }

 private:
  int open() override {
    over_.store(false, std::memory_order_relaxed);
    return MPI_SUCCESS;
  }
  int tag() const override { return tag_; }
  void close(int code) override {
    code_ = code;
    over_.store(true, std::memory_order_release);
  }

  const int tag_;
  int code_ = MPI_SUCCESS;
  std::atomic<bool> over_ = true;
};

}  // namespace wherry::run
