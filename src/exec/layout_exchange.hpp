// Blocks of derived types along a schedule of pairs of ranks.
#pragma once

#include <cstddef>
#include <memory>

#include "arguments/blocks.hpp"
#include "comm/channel.hpp"
#include "comm/state_slots.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/shared_chunks.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::run {

/// Average bytes of a block from which chunks pay.
inline constexpr long long least_chunked_bytes = 64 << 10;

/// Whether every phase has one message out and one in at most.
bool is_pairwise(const schedule::Schedule& schedule);

/// What a communicator keeps whose ranks pack by layouts; where there is none, the library packs derived types.
struct LayoutState {
  static constexpr StateSlot slot = StateSlot::layouts;

  datatype::TypeLayouts* layouts = nullptr;   // set where it is made, and so is `shared`
  bool memory_is_readable = true;             // by the ranks of this host, as far as is known
  std::unique_ptr<SharedConnections> shared;  // with them
};

/// The other ranks, whether those on this host can read this rank's memory (until the system has refused it to one of
/// them), and the memory that this rank shares with them.
struct Peers {
  const topology::Placement& placement;
  bool* readable;
  SharedConnections* shared;  // nullptr on all ranks: none
};

/// Exchanges the blocks along a pairwise schedule of one hop. Ranks must agree only on calling this: the sender states
/// the size of its block. Every rank completes all its messages, then returns its first error; MPI_ERR_TRUNCATE if a
/// block exceeds its destination. Types that have no layout are packed by the library. memory: pair_exchange_memory()
/// bytes, or nullptr, with which it takes longer. Collective over the lane's channel.
int exchange_layouts(const schedule::Schedule& schedule, const Blocks& blocks, const Lane& lane,
                     datatype::TypeLayouts& layouts, const Peers& peers, std::byte* memory);

/// The block that a rank has for itself in one pass; false if a type has no layout, or the sizes differ.
bool copy_layouts(const Share& from, const Share& to, datatype::TypeLayouts& layouts);

}  // namespace wherry::run
