// A cache of blocks with direct mapping, as the one of the UPC code that Di Girolamo, Vella and Hoefler (Transparent
// Caching for RMA Systems, IPDPS 2017) compare with: memory is read in blocks of one size, and each block has one slot
// where it can be.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "remote/reader.hpp"
#include "remote/transport.hpp"

namespace remote {

struct BlockOptions {
  std::size_t memory_bytes = 4 << 20;  // of all slots; as much as the cache that it is compared with
  std::size_t block_bytes = 1 << 10;   // longer blocks bring neighbors along, and leave fewer slots
};

class BlockReader : public Reader {
 public:
  /// A memory of less than a block is one of a block.
  BlockReader(std::unique_ptr<Transport> transport, const BlockOptions& options);

  /// The memory that it takes, with all that it notes of each slot.
  static std::size_t bytes(const BlockOptions& options);

  void get(std::span<std::byte> into, int target, std::size_t displacement, double score) override;
  void flush() override;
  void renew() override;
  Statistics statistics() const override { return statistics_; }

 private:
  enum class State { empty, under_way, valid };
  struct Slot {
    State state = State::empty;
    int target = 0;
    std::size_t block = 0;
  };
  /// What a get still waits for.
  struct Copy {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
  };

  std::size_t slot_of(int target, std::size_t block) const;
  std::byte* bytes_of(std::size_t slot) { return memory_.data() + slot * block_bytes_; }
  /// Whether it was there, or on its way.
  bool hold(std::size_t slot, int target, std::size_t block);
  void fetch(std::size_t slot, int target, std::size_t block);

  std::unique_ptr<Transport> transport_;
  std::size_t block_bytes_;
  std::vector<Slot> slots_;
  std::vector<std::byte> memory_;
  std::vector<std::size_t> under_way_;  // slots
  std::vector<Copy> copies_;
  Statistics statistics_;
};

}  // namespace remote
