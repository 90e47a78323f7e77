#include "coll/blocks/block_collectives.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "exec/block_bindings.hpp"
#include "exec/executor.hpp"
#include "exec/layout_exchange.hpp"
#include "exec/pair_exchange.hpp"
#include "mpi/errors_returned.hpp"
#include "profile/record.hpp"
#include "tuning/staging_limits.hpp"

namespace wherry::run {

namespace {

constexpr int own_tag = 2;                         // no schedule sends to itself
constexpr long long least_replaced_bytes = 1024;   // of less, a faster copy saves less than its memory takes
constexpr long long most_packed_bytes = 64 << 20;  // twice as much memory is needed

// No rank stops half-way: the others count on its messages. So every step is taken, and the first error reported.

/// The block that a rank has for itself, by one who may be inside the library and must not send a message. Without
/// memory the other blocks are exchanged all the same.
int copy_own_packed(BlockPacker& packer, const Share& from, const Share& to) {
  const std::unique_ptr<std::byte[]> packed(new (std::nothrow)
                                                std::byte[static_cast<std::size_t>(from.bytes)]);
  if (!packed) return MPI_ERR_NO_MEM;
  const int code = packer.pack(from.region, from.dense, packed.get(), from.bytes);
  return code != MPI_SUCCESS ? code : packer.deliver(packed.get(), from.bytes, to);
}

/// The block that a rank has for itself. Only the library can touch an accelerator's memory.
int copy_own(const Task& task, const Share& from, const Share& to) {
  const Communicator& c = task.c;
  if (from.bytes == 0 && to.bytes == 0) return MPI_SUCCESS;
  if (from.bytes > to.bytes) return MPI_ERR_TRUNCATE;
  if (c.agreement().host_memory && from.dense && to.dense && from.bytes == to.bytes) {
    if (from.region.address != to.region.address)
      std::memmove(const_cast<void*>(to.region.address), from.region.address,
                   static_cast<std::size_t>(from.bytes));
    return MPI_SUCCESS;
  }
  const LayoutState* const state = c.find<LayoutState>();
  if (state != nullptr && copy_layouts(from, to, *state->layouts)) return MPI_SUCCESS;
  if (task.lane.patience == Patience::test) {
    BlockPacker packer = packer_of(task);
    return copy_own_packed(packer, from, to);
  }
  return c.channel().exchange(piece_of(from), {c.rank(), own_tag}, piece_of(to), {c.rank(), own_tag});
}

bool all_dense(const std::vector<Share>& shares) { return shares.front().dense; }

/// What the staging of an exchange of equal blocks is for, one part after the other.
struct UniformNeeds {
  std::size_t copy_bytes = 0;     // in place: of the data to send
  std::size_t dropped_bytes = 0;  // what comes where the program has too little room for it
  std::size_t staged_bytes = 0;   // blocks on their way
};

UniformNeeds needs_of(const Blocks& blocks, schedule::Hops hops, const Prepared& prepared) {
  const long long block = blocks.block_bytes();
  const auto ranks = static_cast<int>(blocks.receive.size());
  const std::size_t all = static_cast<std::size_t>(block) * blocks.receive.size();
  const bool several = hops == schedule::Hops::several;
  const bool too_short = !several && blocks.receive.front().bytes < block;  // else it comes to what is staged
  return {.copy_bytes = blocks.in_place ? all : 0,
          .dropped_bytes = too_short ? all : 0,
          .staged_bytes = several ? static_cast<std::size_t>(
                                        tuning::uniform_staging(prepared.schedule.slots, ranks, block))
                                  : 0};
}

/// Packs equal blocks one after the other.
int pack_all(BlockPacker& packer, const std::vector<Share>& shares, std::byte* to) {
  for (const Share& share : shares) {
    const int code = packer.pack(share.region, share.dense, to, share.bytes);
    if (code != MPI_SUCCESS) return code;
    to += share.bytes;
  }
  return MPI_SUCCESS;
}

int deliver_all(BlockPacker& packer, const std::byte* from, long long block,
                const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    const int code = packer.deliver(from, block, share);
    if (code != MPI_SUCCESS) return code;
    from += block;
  }
  return MPI_SUCCESS;
}

/// Equal blocks of bytes one after the other.
void lay_out(std::byte* memory, long long block, std::size_t blocks, std::vector<Share>& shares) {
  shares.assign(blocks, {.region = {memory, block, MPI_BYTE}, .bytes = block, .dense = true});
  for (Share& share : shares) share.region.address = std::exchange(memory, memory + block);
}

/// In place: a copy of the data to send takes the place of the send buffer.
int send_from_copy(BlockPacker& packer, Blocks& blocks, std::byte* copy) {
  const long long block = blocks.block_bytes();
  const int code = pack_all(packer, blocks.receive, copy);
  lay_out(copy, block, blocks.receive.size(), blocks.send);
  return code;
}

/// The memory of equal blocks that travel through several hops: contiguous bytes inside, the caller's datatypes at the
/// edges.
class Staged {
 public:
  /// memory: tuning::uniform_staging().
  Staged(const Blocks& blocks, const Prepared& prepared, std::byte* memory)
      : receive_(blocks.receive),
        send_(blocks.send),
        block_(static_cast<std::size_t>(send_.front().bytes)),
        staging_(memory),
        packed_(memory + static_cast<std::size_t>(prepared.schedule.slots) * block_),
        lands_straight_(all_dense(receive_) && receive_.front().bytes == send_.front().bytes) {
    const void* const straight = receive_.front().region.address;
    landed_ = lands_straight_ ? static_cast<std::byte*>(const_cast<void*>(straight))
                              : packed_ + block_ * send_.size();
  }

  int load(BlockPacker& packer, int rank) {
    source_ = static_cast<const std::byte*>(send_.front().region.address);
    int code = MPI_SUCCESS;
    if (!all_dense(send_)) {
      code = pack_all(packer, send_, packed_);
      source_ = packed_;
    }
    const std::size_t own = static_cast<std::size_t>(rank) * block_;
    std::memcpy(landed_ + own, source_ + own, block_);
    return code;
  }

  UniformBinding binding(const Prepared& prepared) const {
    return {prepared.schedule, block_, source_, landed_, staging_};
  }

  int unload(BlockPacker& packer) const {
    return lands_straight_ ? MPI_SUCCESS : deliver_all(packer, landed_, send_.front().bytes, receive_);
  }

 private:
  const std::vector<Share>& receive_;
  const std::vector<Share>& send_;
  std::size_t block_;
  std::byte* staging_;
  std::byte* packed_;
  bool lands_straight_;
  std::byte* landed_ = nullptr;
  const std::byte* source_ = nullptr;
};

/// Whether this rank had better pack equal blocks than leave that to the library.
bool is_packed(const mpi::Api& api, BlockPacker& packer, const Blocks& blocks) {
  const Share &out = blocks.send.front(), &in = blocks.receive.front();
  const auto is_good = [&](const Share& share) { return share.dense || packer.is_by_layout(share); };
  return !(out.dense && in.dense) &&
         blocks.block_bytes() <= most_packed_bytes / static_cast<long long>(blocks.send.size()) &&
         is_good(out) && is_good(in) && (in.dense || receives_keep_to_room(api, blocks.comm));
}

template <class Binding>
int execute(const Task& task, Binding& binding, const Prepared& prepared) {
  Execution execution(prepared.schedule, binding, task.lane, task.requests);
  execution.advance();
  return execution.code();
}

/// Each block from the caller's memory to the caller's memory, by one who waits: the shortest way has no frame to make.
int straight_exchange(const Task& task, const Blocks& blocks, const Prepared& prepared, Staging& staging) {
  const auto own = static_cast<std::size_t>(task.c.rank());
  int code = copy_own(task, blocks.send[own], blocks.receive[own]);
  BlockPacker packer = packer_of(task);
  if (is_packed(task.c.channel().api(), packer, blocks)) {
    const Staging::Lease lease = staging.lease(PackedBinding::bytes_needed(blocks), Patience::wait);
    if (lease.is_granted()) {
      PackedBinding binding(blocks, packer, lease.data());
      code = first_error(code, execute(task, binding, prepared));
      return first_error(code, binding.status());
    }
  }
  DirectBinding binding(blocks);
  return first_error(code, execute(task, binding, prepared));
}

/// The same bytes as by Channel::replace, packed and unpacked by the kernels; nullopt: it cannot be so here. The other
/// rank may do either.
std::optional<int> replace_packed(const Task& task, const Share& share, int peer) {
  const auto size = static_cast<std::size_t>(share.bytes);
  BlockPacker packer = packer_of(task);
  if (share.bytes < least_replaced_bytes || share.bytes > most_packed_bytes || !packer.is_by_layout(share))
    return std::nullopt;
  const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[2 * size]);
  if (!memory) return std::nullopt;
  std::byte* const incoming = memory.get() + size;
  packer.pack(share.region, share.dense, memory.get(), share.bytes);
  std::memcpy(incoming, memory.get(), size);  // of a rank that failed nothing comes
  const Endpoint there{peer, task.lane.tag};
  const int code = task.lane.channel->exchange({memory.get(), share.bytes, MPI_BYTE}, there,
                                               {incoming, share.bytes, MPI_BYTE}, there);
  return code != MPI_SUCCESS ? code : packer.deliver(incoming, share.bytes, share);
}

/// Pairs exchange through temporary memory: the native one's, or the kernels'. Both counts of a pair are equal in
/// place.
int exchange_in_place(const Task& task, const Blocks& blocks, const Prepared& prepared) {
  int code = MPI_SUCCESS;
  for (const schedule::Message& m : prepared.schedule.sends) {
    const Share& share = blocks.receive[static_cast<std::size_t>(m.peer)];
    if (share.bytes == 0) continue;
    const std::optional<int> packed = replace_packed(task, share, m.peer);
    code = first_error(code,
                       packed ? *packed : task.lane.channel->replace(piece_of(share), m.peer, task.lane.tag));
  }
  return code;
}

/// What the library says to MPI_DATATYPE_NULL where there is no data: it depends on how much it checks.
int code_without_type(const mpi::Api& api) {
  MPI_Comm alone = MPI_COMM_NULL;  // unlike MPI_COMM_SELF, without the program's error handler
  if (const int code = api.Comm_split(MPI_COMM_SELF, 0, 0, &alone); code != MPI_SUCCESS) return code;
  api.Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  const int none = 0;
  int nothing[2] = {};
  const int code = api.Alltoallv(&nothing[0], &none, &none, MPI_DATATYPE_NULL, &nothing[1], &none, &none,
                                 MPI_DATATYPE_NULL, alone);
  api.Comm_free(&alone);
  return code;
}

}  // namespace

std::size_t combined_limit(std::uint32_t bucket) {
  return static_cast<std::size_t>(
      tuning::combined_limit(largest({Collective::alltoallv, Limit::none, bucket})));
}

const Prepared& large_block_schedule(Communicator& c) {
  static const schedule::Strategy& strategy = *schedule::find_strategy("direct16");
  return prepared(c, strategy);
}

int validate(const mpi::Api& api, Blocks& blocks) {
  if (!blocks.untyped) return MPI_SUCCESS;
  if (!blocks.untyped_code) blocks.untyped_code = code_without_type(api);
  return *blocks.untyped_code;
}

std::size_t uniform_staging(const Blocks& blocks, schedule::Hops hops, const Prepared& prepared) {
  const UniformNeeds needs = needs_of(blocks, hops, prepared);
  return needs.copy_bytes + needs.dropped_bytes + needs.staged_bytes;
}

Work uniform_exchange(Task task, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                      std::byte* staging) {
  BlockPacker packer = packer_of(task);
  const UniformNeeds needs = needs_of(blocks, hops, prepared);
  int code = blocks.in_place ? send_from_copy(packer, blocks, staging) : MPI_SUCCESS;
  staging += needs.copy_bytes;

  if (hops == schedule::Hops::several) {
    Staged staged(blocks, prepared, staging);
    code = first_error(code, staged.load(packer, task.c.rank()));
    UniformBinding binding = staged.binding(prepared);
    Execution execution(prepared.schedule, binding, task.lane, task.requests);
    const int exchanged = co_await execution;
    co_return first_error(first_error(code, exchanged), staged.unload(packer));
  }

  // Too little room on this rank: it does its part, and drops what comes. Receives that are too short would do as
  // well, had Open MPI 4 and 5 not the habit of filling them beyond their end.
  std::vector<Share> room;  // the program's, meanwhile: the blocks may be exchanged again
  if (needs.dropped_bytes > 0) {
    room = blocks.receive;
    lay_out(staging, blocks.block_bytes(), room.size(), blocks.receive);
  }
  const auto own = static_cast<std::size_t>(task.c.rank());
  if (!blocks.in_place) code = copy_own(task, blocks.send[own], blocks.receive[own]);
  DirectBinding binding(blocks);
  Execution execution(prepared.schedule, binding, task.lane, task.requests);
  const int exchanged = co_await execution;
  code = first_error(code, exchanged);
  if (room.empty()) co_return code;
  blocks.receive.swap(room);
  co_return first_error(code, MPI_ERR_TRUNCATE);
}

std::size_t irregular_staging(schedule::Hops hops, const Prepared& prepared, std::size_t limit) {
  if (hops == schedule::Hops::single) return 0;
  return static_cast<std::size_t>(tuning::combined_bytes(prepared.schedule.slots, prepared.layout.most_items,
                                                         static_cast<long long>(limit)));
}

Work irregular_exchange(Task task, const Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                        const Prepared& large, std::size_t limit, std::byte* staging) {
  const auto own = static_cast<std::size_t>(task.c.rank());
  int code = copy_own(task, blocks.send[own], blocks.receive[own]);
  if (hops == schedule::Hops::single) {
    DirectBinding binding(blocks);
    Execution execution(prepared.schedule, binding, task.lane, task.requests);
    const int exchanged = co_await execution;
    co_return first_error(code, exchanged);
  }
  BlockPacker packer = packer_of(task);
  CombinedBinding binding(prepared.schedule, prepared.layout, blocks, limit, staging, packer);
  Execution execution(prepared.schedule, binding, task.lane, task.requests);
  const int combined = co_await execution;
  code = first_error(first_error(code, combined), binding.status());
  LargeBinding straight(blocks, binding);
  Execution rest(large.schedule, straight, task.lane, task.requests);
  const int exchanged = co_await rest;
  co_return first_error(code, exchanged);
}

int exchange_irregular(const Task& task, const Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                       const Prepared& large, std::size_t limit, Staging& staging) {
  const Staging::Lease lease = staging.lease(irregular_staging(hops, prepared, limit), task.lane.patience);
  if (!lease.is_granted()) return MPI_ERR_NO_MEM;
  return irregular_exchange(task, blocks, hops, prepared, large, limit, lease.data()).run();
}

namespace {

/// Alike on all ranks: by what they have agreed on. Which blocks are dense each of them knows of its own only.
bool is_by_layouts(const Communicator& c, const Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                   std::uint32_t bucket) {
  return c.find<LayoutState>() != nullptr && blocks.typed && hops == schedule::Hops::single &&
         bucket >= profile::bucket_of(least_chunked_bytes) && is_pairwise(prepared.schedule);
}

int exchange_by_layouts(const Task& task, const Blocks& blocks, const Prepared& prepared, Staging& staging) {
  const auto own = static_cast<std::size_t>(task.c.rank());
  const int code = copy_own(task, blocks.send[own], blocks.receive[own]);
  const Staging::Lease lease = staging.lease(pair_exchange_memory(), Patience::wait);
  LayoutState& state = *task.c.find<LayoutState>();
  const Peers peers{task.c.placement(), &state.memory_is_readable, state.shared.get()};
  return first_error(
      code, exchange_layouts(prepared.schedule, blocks, task.lane, *state.layouts, peers, lease.data()));
}

}  // namespace

int perform_uniform(Communicator& c, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                    Staging& staging) {
  const bool straight = hops == schedule::Hops::single && !blocks.in_place &&
                        blocks.receive.front().bytes >= blocks.block_bytes();
  if (straight) return straight_exchange(blocking_task(c), blocks, prepared, staging);
  const Staging::Lease lease = staging.lease(uniform_staging(blocks, hops, prepared), Patience::wait);
  if (!lease.is_granted()) return MPI_ERR_NO_MEM;
  return uniform_exchange(blocking_task(c), blocks, hops, prepared, lease.data()).run();
}

int perform_irregular(Communicator& c, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                      const Prepared& large, std::uint32_t bucket, Staging& staging) {
  const Task task = blocking_task(c);
  const auto exchange = [&] {
    if (is_by_layouts(c, blocks, hops, prepared, bucket))
      return exchange_by_layouts(task, blocks, prepared, staging);
    return exchange_irregular(task, blocks, hops, prepared, large, combined_limit(bucket), staging);
  };
  const int code = blocks.in_place ? exchange_in_place(task, blocks, prepared) : exchange();
  return first_error(code, validate(c.channel().api(), blocks));
}

}  // namespace wherry::run
