// Memory that grows and shrinks at its end without ever moving.
#pragma once

#include <cstddef>

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

}  // namespace wherry::cache
