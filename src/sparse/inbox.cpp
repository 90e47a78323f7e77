#include "sparse/inbox.hpp"

#include <algorithm>
#include <utility>

namespace wherry::run {

namespace {
constexpr std::size_t chunk_bytes = 16 << 10;
}

// Small messages share chunks: one allocation for each would take longer than the message.
std::byte* Inbox::room(std::size_t bytes) {
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  const bool alone = padded > chunk_bytes / 4;
  if (alone || padded > left_) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(alone ? padded : chunk_bytes));
    if (alone) return memory_.back().get();
    next_ = memory_.back().get();
    left_ = chunk_bytes;
  }
  left_ -= padded;
  return std::exchange(next_, next_ + padded);
}

std::byte* Inbox::add(int source, std::size_t bytes) {
  std::byte* const data = room(bytes);
  messages_.push_back({source, data, bytes});
  return data;
}

void Inbox::sort() { std::ranges::stable_sort(messages_, {}, &SparseMessage::peer); }

}  // namespace wherry::run
