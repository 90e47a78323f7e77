// Memory for blocks under way: reused from call to call; what is kept between calls is bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

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
    /// nullptr if the memory could not be had.
    std::byte* data() const { return buffer_.data.get(); }

   private:
    friend class Staging;
    void swap(Lease& other) noexcept;
    struct Buffer {
      std::unique_ptr<std::byte[]> data;
      std::size_t bytes = 0;
    };
    Staging* pool_ = nullptr;
    Buffer buffer_;
  };

  /// A buffer of at least `bytes`, contents undefined; given back when the lease ends.
  Lease lease(std::size_t bytes);

 private:
  void give_back(Lease::Buffer buffer);

  std::size_t keep_bytes_;
  std::mutex mutex_;
  std::size_t kept_bytes_ = 0;
  std::vector<Lease::Buffer> free_;
};

}  // namespace wherry::run
