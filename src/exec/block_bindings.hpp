// Bindings: how the messages of a schedule meet the memory of one call.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "arguments/blocks.hpp"
#include "comm/channel.hpp"
#include "exec/block_packer.hpp"
#include "schedule/schedule.hpp"

namespace wherry::run {

/// A share as the caller describes it.
inline Piece piece_of(const Share& share) {
  return {const_cast<void*>(share.region.address), share.region.count, share.region.type};
}

/// Every block in a message of its own, straight between the caller's buffers, in the caller's datatypes.
/// For schedules of single-hop strategies.
class DirectBinding {
 public:
  explicit DirectBinding(const Blocks& blocks) : blocks_(blocks) {}

  std::optional<Piece> outgoing(const schedule::Message& m) const { return piece(blocks_.send, m.peer); }
  std::optional<Piece> incoming(const schedule::Message& m) const { return piece(blocks_.receive, m.peer); }
  int arrived(const schedule::Message&) const { return MPI_SUCCESS; }

 private:
  std::optional<Piece> piece(const std::vector<Share>& shares, int peer) const {
    const Share& share = shares[static_cast<std::size_t>(peer)];
    return share.bytes > 0 ? std::optional(piece_of(share)) : std::nullopt;
  }

  const Blocks& blocks_;
};

/// The same for blocks of one size, whose elements are packed before they are sent and unpacked when they have arrived
/// where their type is not dense. What travels is what MPI would send, so the other ranks need not do so.
class PackedBinding {
 public:
  static std::size_t bytes_needed(const Blocks& blocks) {
    return 2 * blocks.send.size() * static_cast<std::size_t>(blocks.block_bytes());
  }
  /// memory: bytes_needed().
  PackedBinding(const Blocks& blocks, BlockPacker& packer, std::byte* memory)
      : blocks_(blocks),
        packer_(packer),
        block_bytes_(static_cast<std::size_t>(blocks.block_bytes())),
        outgoing_(memory),
        incoming_(memory + blocks.send.size() * block_bytes_) {}

  std::optional<Piece> outgoing(const schedule::Message& m);
  std::optional<Piece> incoming(const schedule::Message& m) const;
  int arrived(const schedule::Message& m) const;

  /// The first MPI error of packing, which outgoing() cannot return.
  int status() const { return status_; }

 private:
  std::byte* place(std::byte* area, int peer) const {
    return area + static_cast<std::size_t>(peer) * block_bytes_;
  }

  const Blocks& blocks_;
  BlockPacker& packer_;
  std::size_t block_bytes_;
  std::byte *outgoing_, *incoming_;
  int status_ = MPI_SUCCESS;
};

/// Blocks of one size in contiguous buffers; messages of several blocks pass through staging.
class UniformBinding {
 public:
  /// send, receive: size * block_bytes bytes each; staging: Schedule::slots * block_bytes.
  UniformBinding(const schedule::Schedule& schedule, std::size_t block_bytes, const std::byte* send,
                 std::byte* receive, std::byte* staging)
      : schedule_(schedule), block_bytes_(block_bytes), send_(send), receive_(receive), staging_(staging) {}

  std::optional<Piece> outgoing(const schedule::Message& m) const;
  std::optional<Piece> incoming(const schedule::Message& m) const;
  int arrived(const schedule::Message& m) const;

 private:
  std::size_t offset(int index) const { return static_cast<std::size_t>(index) * block_bytes_; }
  std::byte* slot(int index) const { return staging_ + offset(index); }
  const std::byte* place(const schedule::Item& item) const {
    return item.slot == schedule::at_home ? send_ + offset(item.block.destination) : slot(item.slot);
  }
  Piece bytes(const std::byte* address, int blocks) const {
    return {const_cast<std::byte*>(address), static_cast<long long>(offset(blocks)), MPI_BYTE};
  }

  const schedule::Schedule& schedule_;
  std::size_t block_bytes_;
  const std::byte* send_;
  std::byte* receive_;
  std::byte* staging_;
};

/// Where the messages of a phase lie in the memory that CombinedBinding uses, in items from its start.
struct CombinedLayout {
  std::vector<int> send;     // per message of Schedule::sends
  std::vector<int> receive;  // per message of Schedule::receives
  int most_items = 0;        // in the messages of one phase, sends and receives together
};

CombinedLayout layout_of(const schedule::Schedule& schedule);

/// Blocks of any size: small ones travel combined, each message led by the sizes of its blocks; a block of more
/// than `limit` bytes is marked absent there and must travel directly (LargeBinding).
///
/// The limit bounds staging on every rank whatever the others send, so that no rank needs to know more than its own
/// counts: receiver and sender of a block know its size, and the ranks between them read it.
class CombinedBinding {
 public:
  /// limit: a multiple of 4. staging: tuning::combined_bytes(schedule.slots, layout.most_items, limit) bytes, aligned
  /// to 4.
  CombinedBinding(const schedule::Schedule& schedule, const CombinedLayout& layout, const Blocks& blocks,
                  std::size_t limit, std::byte* staging, BlockPacker& packer);

  std::optional<Piece> outgoing(const schedule::Message& m);
  std::optional<Piece> incoming(const schedule::Message& m);
  int arrived(const schedule::Message& m);

  /// The first MPI error of packing, which outgoing() cannot return.
  int status() const { return status_; }

  /// Whether the block of this rank is too large to travel combined.
  bool sends_large(int destination) const { return is_large(blocks_.send, destination); }
  /// Whether the block for this rank is: its origin has said so once the schedule has run.
  bool receives_large(int origin) const { return large_[static_cast<std::size_t>(origin)]; }

 private:
  using Size = std::uint32_t;
  static constexpr Size absent = ~Size{0};

  bool is_large(const std::vector<Share>& shares, int peer) const {
    return shares[static_cast<std::size_t>(peer)].bytes > static_cast<long long>(limit_);
  }
  std::byte* message_at(int items) const {
    return messages_ + static_cast<std::size_t>(items) * (limit_ + sizeof(Size));
  }
  std::byte* area(const std::vector<schedule::Message>& all, const std::vector<int>& offsets,
                  const schedule::Message& m) const {
    return message_at(offsets[static_cast<std::size_t>(&m - all.data())]);
  }
  int gather(const schedule::Item& item, Size* size, std::byte* to);
  int take(const schedule::Item& item, Size size, const std::byte* from);

  const schedule::Schedule& schedule_;
  const CombinedLayout& layout_;
  const Blocks& blocks_;
  std::size_t limit_;
  std::byte* slots_;     // one of `limit` bytes per slot
  std::byte* messages_;  // messages of the current phase
  BlockPacker& packer_;
  std::vector<Size> sizes_;  // of the block in each slot
  std::vector<bool> large_;  // of the block from each rank
  int status_ = MPI_SUCCESS;
};

/// The blocks that CombinedBinding marked absent, straight between the caller's buffers. Both ends go by what is sent.
class LargeBinding {
 public:
  LargeBinding(const Blocks& blocks, const CombinedBinding& combined)
      : blocks_(blocks), combined_(combined) {}

  std::optional<Piece> outgoing(const schedule::Message& m) const {
    if (!combined_.sends_large(m.peer)) return std::nullopt;
    return piece_of(blocks_.send[static_cast<std::size_t>(m.peer)]);
  }
  std::optional<Piece> incoming(const schedule::Message& m) const {
    if (!combined_.receives_large(m.peer)) return std::nullopt;
    return piece_of(blocks_.receive[static_cast<std::size_t>(m.peer)]);
  }
  int arrived(const schedule::Message&) const { return MPI_SUCCESS; }

 private:
  const Blocks& blocks_;
  const CombinedBinding& combined_;
};

}  // namespace wherry::run
