// Wherry's own memory: an allocator over mapped memory that never calls malloc.
//
// Freeing one buffer above 128 KiB raises glibc's thresholds for the rest of the run, and with them the page faults of
// the program's own buffers: a program must not notice what Wherry allocates. Small blocks are cut from chunks and come
// back by size; large ones are mappings of their own, of which a few are kept, so that a buffer that is needed again
// costs no page faults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace wherry::heap {

/// Thread-safe. Never destroyed: exit handlers may still allocate. All memory is aligned to 16 bytes at least.
class Arena {
 public:
  constexpr Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// nullptr: there is not that much memory. alignment: a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
  /// Takes back what allocate() gave, or nullptr.
  void release(void* data) noexcept;

  /// Around fork, so that the child finds the arena whole.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

  struct Usage {
    std::size_t chunk_bytes = 0;  // mapped for small blocks
    std::size_t large_bytes = 0;  // mapped for large blocks in use
    std::size_t kept_bytes = 0;   // mapped and kept for later
  };
  Usage usage() noexcept;

  static constexpr std::size_t small_max = std::size_t{16} << 10;  // with its header
  static constexpr std::size_t kept_max = std::size_t{32} << 20;

 private:
  struct Header;
  struct Free {
    Free* next;
  };
  struct Mapping {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };

  std::byte* small_block(std::uint32_t bin) noexcept;
  std::byte* large_block(std::size_t bytes) noexcept;
  bool add_chunk() noexcept;
  void keep(Mapping mapping) noexcept;
  void drop_oldest() noexcept;
  void* map(std::size_t bytes) noexcept;

  static constexpr std::uint32_t bins =
      36;  // 16, 32, ... 128, then four steps in each doubling up to small_max

  std::mutex mutex_;
  std::array<Free*, bins> free_ = {};
  std::byte* next_ = nullptr;  // what is left of the newest chunk
  std::byte* end_ = nullptr;
  std::array<Mapping, 16> kept_ = {};  // the oldest first
  std::size_t kept_count_ = 0;
  Usage usage_;
};

}  // namespace wherry::heap
