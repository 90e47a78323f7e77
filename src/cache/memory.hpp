// The memory of a cache, which grows and shrinks at its end without ever moving, and how a few bytes of it are copied.
#pragma once

#include <cstddef>
#include <cstring>

namespace wherry::cache {

/// A reserved range of addresses whose beginning is backed by memory.
///
/// What is committed has been touched: its first use inside a get costs no page fault. Reserving costs no memory.
class Memory {
 public:
  /// Reserves addresses for `most` bytes; none is committed. Throws std::bad_alloc if there are not that many.
  explicit Memory(std::size_t most);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t committed() const { return committed_; }
  std::size_t most() const { return most_; }

  /// Commits or returns memory at the end; new bytes are zero. `bytes` is rounded up to pages and may not
  /// exceed most().
  void commit(std::size_t bytes);

 private:
  void populate(std::size_t from, std::size_t to);

  std::byte* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t most_ = 0;
  std::size_t committed_ = 0;
};

// ---- Copies without a call ----

/// Two copies of a fixed size that may overlap in the middle: any length from Size to 2 * Size.
template <std::size_t Size>
void copy_from_both_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::byte first[Size], last[Size];
  std::memcpy(first, from, Size);
  std::memcpy(last, from + bytes - Size, Size);
  std::memcpy(to, first, Size);
  std::memcpy(to + bytes - Size, last, Size);
}

/// As std::memcpy, whose call would be half of the time of a hit on a small entry.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  // Where it sees how large the destination is, GCC warns of branches that this length does not take.
  __asm__("" : "+r"(to));
  if (bytes > 64) std::memcpy(to, from, bytes);
  else if (bytes >= 32) copy_from_both_ends<32>(to, from, bytes);
  else if (bytes >= 16) copy_from_both_ends<16>(to, from, bytes);
  else if (bytes >= 8) copy_from_both_ends<8>(to, from, bytes);
  else if (bytes >= 4) copy_from_both_ends<4>(to, from, bytes);
  else
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

/// Asks for the cache lines of bytes that will be written soon.
inline void prefetch_lines(const std::byte* at, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(at + i, 1);
  if (bytes > 0) __builtin_prefetch(at + bytes - 1, 1);
}

}  // namespace wherry::cache
