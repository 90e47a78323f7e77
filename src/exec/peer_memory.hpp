// Blocks of another process's memory on the same host, read by the system (cross memory attach): one copy, and no chunk
// waits for another. Only the reader needs the permission, which some systems refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/shared_chunks.hpp"
#include "layout/pack_plan.hpp"

namespace wherry::run {

/// What a process tells another one of a block, as a message: its size, and the data themselves, or where they are in
/// its own memory, or what memory both share, or none of these. Must stay where it is until the other one has answered.
class Offer {
 public:
  static constexpr std::size_t most_blocks = 512;
  /// Of data that come with the offer.
  static constexpr long long most_data = most_blocks * sizeof(layout::ByteBlock);
  /// The system looks at the pages of each block anew: shorter ones are copied faster in chunks.
  static constexpr long long least_block_bytes = 4 << 10;

  /// Of so many bytes, and nothing else.
  explicit Offer(long long bytes) : bytes_(bytes) {}
  /// Of the blocks, by their addresses.
  void set(const std::vector<layout::ByteBlock>& blocks);
  /// In memory that both share; the receiver must open it if it has a descriptor.
  void set(const SharedKey& key) {
    is_shared_ = true;
    key_ = key;
  }
  /// Of the data, bytes() in all, which are to be written there. At most most_data.
  std::byte* set_data() {
    has_data_ = true;
    return reinterpret_cast<std::byte*>(blocks_);
  }

  long long bytes() const { return bytes_; }
  bool has_memory() const { return count_ > 0; }
  bool is_shared() const { return is_shared_; }
  const SharedKey& key() const { return key_; }
  /// Whether the receiver must say what it can do.
  bool asks() const { return has_memory() || (is_shared_ && key_.descriptor >= 0); }
  /// nullptr: they come otherwise.
  const std::byte* data() const { return has_data_ ? reinterpret_cast<const std::byte*>(blocks_) : nullptr; }
  /// Whether a message of so many bytes is an offer, and all of it.
  bool is_whole(std::size_t bytes) const;
  std::size_t message_bytes() const {
    return sizeof *this - sizeof blocks_ +
           (has_data_ ? static_cast<std::size_t>(bytes_) : count_ * sizeof(layout::ByteBlock));
  }

  /// Copies all of it to blocks of this process, by their addresses, of as many bytes. false: the system refuses, or
  /// the memory is not that of the process that made the offer; then those blocks have any bytes.
  bool read(const std::vector<layout::ByteBlock>& to) const;

 private:
  static constexpr std::uint64_t mark = 0x7972726568770002;

  std::uint64_t mark_ = mark;  // what a program sends by other means has another one
  long long bytes_;
  long long process_ = 0;
  const void* proof_address_ = nullptr;
  std::uint64_t proof_ = 0;  // to be found there: a process may have another number in the reader's container
  std::size_t count_ = 0;
  SharedKey key_;
  bool has_data_ = false;
  bool is_shared_ = false;
  layout::ByteBlock blocks_[most_blocks];  // or the data; no more of it than is sent is ever set
};

/// The blocks of a plan at that memory, by their addresses; empty if they are too many or too short to be read so.
std::vector<layout::ByteBlock> readable_blocks(const layout::PackPlan& plan, const std::byte* memory);

}  // namespace wherry::run
