// Memory that every rank of a communicator has for its nonblocking collectives when there is no other.
//
// A nonblocking call must not ask the other ranks whether they have memory for it, and a rank without could not do its
// part. So each reserves memory for one call when Wherry is enabled on the communicator, and no call is taken up that
// may need more. Calls that get no other have it one after the other, in the order in which they started, which all
// ranks share. Of the calls that are not over on all ranks the first has its memory everywhere: it ends, and the next
// has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>

namespace wherry::run {

class ReservedMemory {
 public:
  /// As much of `most` bytes as can be had, halving. The system gives what is never written to in name only.
  explicit ReservedMemory(std::size_t most) {
    constexpr std::size_t least = 4096;
    for (bytes_ = most; bytes_ >= least; bytes_ /= 2)
      if (data_.reset(new (std::nothrow) std::byte[bytes_]); data_ != nullptr) return;
    bytes_ = 0;
  }

  std::size_t bytes() const { return bytes_; }
  std::byte* data() const { return data_.get(); }

  void stand_in_line(const void* call) { line_.push_back(call); }
  /// Whether the memory is this call's, until it leaves.
  bool is_turn_of(const void* call) const { return !line_.empty() && line_.front() == call; }
  void leave(const void* call) { std::erase(line_, call); }

 private:
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte[]> data_;
  std::deque<const void*> line_;
};

}  // namespace wherry::run
