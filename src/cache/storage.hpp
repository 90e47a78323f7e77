// Bytes of many sizes in one bounded range of memory, without fragmentation.
//
// Blocks with boundary tags, free ones in lists by size (good fit; M. Masmano and others, TLSF, ECRTS 2004),
// merged with their neighbors as soon as they are free. What has no block of its size is laid out in several,
// like a file in extents: in two or three, or in as many as it takes once a sixteenth of the memory lies about
// in small blocks. So nothing has to be moved for others to fit, and no size is ever starved by another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/memory.hpp"

namespace wherry::cache {

class Storage {
 public:
  /// A block's place, in cells from the beginning. 0: none.
  using Ref = std::uint32_t;
  static constexpr std::size_t cell = 16;

  /// The head of a block: one cell.
  struct BlockHeader {
    std::uint32_t cells;   // of the whole block; the top bit says that it is used
    std::uint32_t before;  // cells of the block before this one in memory; 0: the first
    Ref next;              // used: the next piece of the same allocation; free: the next in its list
    Ref owner;             // used: the first piece; free: the one before in its list
  };
  static_assert(sizeof(BlockHeader) == cell);

  /// Payload that is certainly in an allocation's first piece.
  static constexpr std::size_t least_payload = 2 * cell;

  /// `bytes` now and `most` at most, both including heads; at least 4 KiB. Throws std::bad_alloc.
  Storage(std::size_t bytes, std::size_t most);

  std::size_t bytes() const { return std::size_t{end_} * cell; }
  std::size_t most() const { return std::size_t{most_} * cell; }
  /// The memory behind bytes(), in whole pages.
  std::size_t committed() const { return memory_.committed(); }
  std::size_t used() const { return std::size_t{used_} * cell; }
  /// What an allocation of this many bytes needs if it fits in one piece.
  static std::size_t footprint(std::size_t bytes) { return (bytes + 2 * cell - 1) / cell * cell; }

  /// Memory for `bytes` bytes in one or more pieces, whose contents are undefined; 0 if there is not enough. It
  /// never fails when these bytes and a sixteenth of all are free, heads of free blocks not counted.
  Ref allocate(std::size_t bytes);
  /// Frees an allocation, all of its pieces.
  void free(Ref first);
  /// Frees all, in constant time.
  void clear();

  BlockHeader& block(Ref ref) const {
    return *reinterpret_cast<BlockHeader*>(memory_.data() + std::size_t{ref} * cell);
  }
  std::byte* payload(Ref ref) const { return memory_.data() + (std::size_t{ref} + 1) * cell; }
  std::size_t payload_bytes(Ref ref) const { return (std::size_t{size_of(ref)} - 1) * cell; }
  /// What this allocation takes, in all of its pieces.
  std::size_t footprint_of(Ref first) const;

  /// Calls use(part, bytes) for each piece of bytes [from, from + bytes) of an allocation, in order.
  template <class Use>
  void each_part(Ref first, std::size_t from, std::size_t bytes, Use&& use) const {
    for (Ref piece = first; bytes > 0; piece = block(piece).next) {
      const std::size_t here = payload_bytes(piece);
      if (from < here) {
        const std::size_t part = std::min(bytes, here - from);
        use(payload(piece) + from, part);
        bytes -= part;
        from = here;
      }
      from -= here;
    }
  }

  /// Adds memory at the end, up to most().
  void grow(std::size_t bytes);
  /// Gives memory at the end back until `bytes` are left. Where an allocation is in the way, `evacuate(first)`
  /// must free it and say yes, and may allocate; if it says no, the storage stays as large as it is by then.
  template <class Evacuate>
  void shrink(std::size_t bytes, Evacuate&& evacuate) {
    const std::uint32_t limit = std::max(cells_of(bytes), least_end);
    while (end_ > limit) {
      if (is_used(last_)) {
        if (!evacuate(block(last_).owner)) break;
      } else {
        cut_last(limit);
      }
    }
    memory_.commit(bytes_committed());
  }

 private:
  static constexpr std::uint32_t used_bit = 1u << 31;
  static constexpr Ref first_block = 4;            // what comes before is zero: 0 refers to nothing
  static constexpr std::uint32_t least_cells = 3;  // a smaller rest stays with its block
  static constexpr std::uint32_t scattered_share = 16;
  static constexpr std::uint32_t least_end = 4096 / cell;
  static constexpr std::size_t exact_bins = 64, bins = exact_bins + 8 * 25;

  static std::uint32_t cells_of(std::size_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(bytes / cell, used_bit - 1));
  }
  static std::size_t bin_of(std::uint32_t cells);

  std::uint32_t size_of(Ref ref) const { return block(ref).cells & ~used_bit; }
  bool is_used(Ref ref) const { return (block(ref).cells & used_bit) != 0; }
  std::size_t bytes_committed() const { return std::size_t{end_} * cell; }

  void reset();
  void list(Ref ref);
  void unlist(Ref ref);
  Ref allocate_in_pieces(std::uint32_t left);
  Ref find_free(std::uint32_t cells) const;
  Ref largest_free() const;
  std::uint32_t least_piece(std::uint32_t payload) const;
  Ref first_bin_from(std::size_t bin) const;
  bool cut(Ref ref, std::uint32_t cells);
  std::uint32_t take(Ref ref, std::uint32_t cells);
  void add_free(Ref ref, std::uint32_t cells, std::uint32_t before);
  void set_before_of_next(Ref ref);
  void release(Ref ref);
  void cut_last(std::uint32_t limit);

  Memory memory_;
  std::uint32_t most_;      // cells
  std::uint32_t end_ = 0;   // cells
  std::uint32_t used_ = 0;  // cells
  Ref last_ = 0;            // the block at the end
  // What an allocation may hope for: cells of all free blocks but their heads.
  std::uint32_t free_payload_ = 0;
  std::array<Ref, bins> heads_{};
  std::array<std::uint64_t, (bins + 63) / 64> filled_{};
};

}  // namespace wherry::cache
