// Collectives with fixed arguments that the program starts again and again: by a persistent request of MPI, or by name.
#pragma once

#include <atomic>
#include <cstddef>

#include "progress/operation.hpp"

namespace wherry::run {

/// Behind a persistent request of the library. The request that the program holds is a receive of nothing from this
/// very rank, on Wherry's communicator. MPI_Start posts it, as it posts any other; an empty message to oneself
/// completes it when the collective is over. So it is inactive, active and complete when the library says so, in all of
/// MPI_Wait's and MPI_Test's forms.
class Persistent final : public NonblockingOperation {
 public:
  /// tag: for good. request: the program's, which make() makes.
  Persistent(std::shared_ptr<Communicator> c, int tag) : NonblockingOperation(std::move(c)), tag_(tag) {}

  /// The program's request. Returns an MPI code.
  int make(MPI_Request* request);

 private:
  int open() override { return MPI_SUCCESS; }
  int tag() const override { return tag_; }
  void close(int code) override;

  static constexpr char nothing[1] = {};  // of static storage, for the request is left alone

  const int tag_;
  std::byte landing_[1] = {};  // a receive of nothing still needs a place in some libraries, should more come
};

inline int Persistent::make(MPI_Request* request) {
  const Channel& channel = communicator()->channel();
  return channel.api().Recv_init(landing_, 0, MPI_BYTE, communicator()->rank(), tag_, channel.comm(),
                                 request);
}

/// A byte too much says that the collective failed: what most often goes wrong is a receive buffer that is too short,
/// and MPI_ERR_TRUNCATE is what the request then says.
inline void Persistent::close(int code) {
  const Channel& channel = communicator()->channel();
  MPI_Request sent = MPI_REQUEST_NULL;
  const int bytes = code == MPI_SUCCESS ? 0 : 1;
  if (channel.api().Isend(nothing, bytes, MPI_BYTE, communicator()->rank(), tag_, channel.comm(), &sent) ==
      MPI_SUCCESS)
    channel.api().Request_free(&sent);
}

/// Started by name.
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
