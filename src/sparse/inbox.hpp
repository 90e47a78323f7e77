// What has arrived in a sparse exchange, and the memory that holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/channel.hpp"

namespace wherry::run {

// What a sparse exchange carries.

/// Bytes for or from one rank. Not owned.
struct SparseMessage {
  int peer = 0;  // its destination where it is sent, its source where it has arrived
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Messages stay where they are put: receives may be under way in several of them. Data are aligned to `alignment`.
/// Throws std::bad_alloc.
class Inbox {
 public:
  static constexpr std::size_t alignment = 16;  // that of std::max_align_t where Wherry runs

  /// Room for the next message from `source`, to be written by the caller.
  std::byte* add(int source, std::size_t bytes);
  /// A message whose data lie in memory that was adopted.
  void add(const SparseMessage& message) { messages_.push_back(message); }
  /// Keeps the memory as long as the messages.
  void adopt(std::unique_ptr<std::byte[]> memory) { memory_.push_back(std::move(memory)); }
  /// Into the order of sources; messages of one source keep theirs.
  void sort();

  std::span<const SparseMessage> messages() const { return messages_; }

 private:
  std::byte* room(std::size_t bytes);

  std::vector<SparseMessage> messages_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::byte* next_ = nullptr;  // what is left of a chunk for small messages
  std::size_t left_ = 0;
};

// Receives messages of which neither source nor size is known.

/// Of all messages with one tag on the channel. No other receive may use that tag meanwhile.
class Collector {
 public:
  Collector(const Channel& channel, int tag, Inbox& inbox) : channel_(channel), tag_(tag), inbox_(inbox) {}

  /// Begins to receive a message that has come. Whether there was one.
  bool take();
  /// Waits for all that was begun; the first error.
  int finish();

 private:
  const Channel& channel_;
  int tag_;
  Inbox& inbox_;
  std::vector<MPI_Request> requests_;
  Spare spare_;
  int code_ = MPI_SUCCESS;
};

}  // namespace wherry::run
