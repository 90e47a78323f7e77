// Blocks of another process's memory on the same host, read by the system (cross memory attach): one copy, and no chunk
// waits for another. Only the reader needs the permission, which some systems refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layout/plan.hpp"

namespace wherry::run {

/// What a process tells another one of its own memory, as a message. Must stay where it is until the other one has
/// answered.
class Offer {
 public:
  static constexpr std::size_t most_blocks = 512;
  /// The system looks at the pages of each block anew: shorter ones are copied faster in chunks.
  static constexpr long long least_block_bytes = 4 << 10;

  /// Of so many bytes, but of no memory.
  explicit Offer(long long bytes) : bytes_(bytes) {}
  /// Of the blocks, by their addresses.
  void set(const std::vector<layout::Block>& blocks);

  long long bytes() const { return bytes_; }
  bool has_memory() const { return count_ > 0; }
  std::size_t message_bytes() const { return sizeof *this - (most_blocks - count_) * sizeof(layout::Block); }

  /// Copies all of it to blocks of this process, by their addresses, of as many bytes. false: the system refuses, or
  /// the memory is not that of the process that made the offer; then those blocks have any bytes.
  bool read(const std::vector<layout::Block>& to) const;

 private:
  long long bytes_;
  long long process_ = 0;
  const void* proof_address_ = nullptr;
  std::uint64_t proof_ = 0;  // to be found there: a process may have another number in the reader's container
  std::size_t count_ = 0;
  layout::Block blocks_[most_blocks] = {};
};

/// The blocks of a plan at that memory, by their addresses; empty if they are too many or too short to be read so.
std::vector<layout::Block> readable_blocks(const layout::Plan& plan, const std::byte* memory);

}  // namespace wherry::run
