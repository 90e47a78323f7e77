// Memory for blocks under way: reused from call to call; what is kept between calls is bounded.
//
// A rank without memory cannot do its part of a collective, and the others would wait for it. So the ranks agree,
// before a strategy is taken up, that all of them have what its blocking calls may need (choosing.cpp), and keep it.
// Nonblocking operations have memory of their own (reserved_memory.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/channel.hpp"

namespace wherry::run {

/// A pool of buffers shared by all communicators of the process. Thread-safe.
class Staging {
 public:
  /// keep_bytes: how much memory to keep for later calls when nothing is leased.
  explicit Staging(std::size_t keep_bytes) : keep_bytes_(keep_bytes) {}

  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { swap(other); }
    Lease& operator=(Lease&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Lease();
    /// Whether there is as much memory as was asked for, which may be none.
    bool is_granted() const { return wanted_ == 0 || buffer_.data != nullptr; }
    /// nullptr if nothing was asked for, or could not be had.
    std::byte* data() const { return buffer_.data.get(); }

   private:
    friend class Staging;
    void swap(Lease& other) noexcept;
    struct Buffer {
      static Buffer of(std::size_t bytes);
      std::unique_ptr<std::byte[]> data;
      std::size_t bytes = 0;
      bool reserved = false;
    };
    Staging* pool_ = nullptr;
    std::size_t wanted_ = 0;
    Buffer buffer_;
  };

  /// Makes sure of one buffer of `bytes` for whoever waits, until the end; false if the memory could not be had.
  /// Programs whose threads wait in several calls at once share it: the others take what there is.
  bool reserve(std::size_t bytes);

  /// A buffer of at least `bytes`, contents undefined; given back when the lease ends. Only who waits for his call may
  /// have the one that is reserved, for others might keep it for long.
  Lease lease(std::size_t bytes, Patience patience);

 private:
  Lease::Buffer take_kept(std::size_t bytes, Patience patience);
  void give_back(Lease::Buffer buffer);

  std::size_t keep_bytes_;
  std::mutex mutex_;
  std::size_t kept_bytes_ = 0;
  std::vector<Lease::Buffer> free_;
  std::size_t reserved_bytes_ = 0;
  Lease::Buffer reserve_;  // empty while it is leased
};

}  // namespace wherry::run
