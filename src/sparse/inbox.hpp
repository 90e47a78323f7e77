// What has arrived in a sparse exchange, and the memory that holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sparse/message.hpp"

namespace wherry::run {

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

}  // namespace wherry::run
