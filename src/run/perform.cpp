#include "run/perform.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "choose/offers.hpp"

namespace wherry::run {

namespace {

constexpr int combined_tag = 1;
constexpr int direct_tag = 2;

/// How blocks travel that are too large to be combined.
constexpr std::string_view large_block_strategy = "direct16";

// No rank stops half-way: the others count on its messages. So every step is taken, and the first error reported.

/// The block that a rank has for itself. Only the library can touch an accelerator's memory.
int copy_own(const Communicator& c, const Share& from, const Share& to) {
  if (from.bytes == 0 && to.bytes == 0) return MPI_SUCCESS;
  if (from.bytes > to.bytes) return MPI_ERR_TRUNCATE;
  if (c.terms().host_memory && from.dense && to.dense && from.bytes == to.bytes) {
    if (from.region.address != to.region.address)
      std::memmove(const_cast<void*>(to.region.address), from.region.address,
                   static_cast<std::size_t>(from.bytes));
    return MPI_SUCCESS;
  }
  return c.channel().exchange(piece_of(from), c.rank(), piece_of(to), c.rank(), direct_tag);
}

bool all_dense(const std::vector<Share>& shares) { return shares.front().dense; }

/// Packs equal blocks one after the other.
int pack_all(const Communicator& c, const std::vector<Share>& shares, std::byte* to) {
  for (const Share& share : shares) {
    const int code = pack(c.channel().api(), share.region, share.dense, to, share.bytes, c.channel().comm());
    if (code != MPI_SUCCESS) return code;
    to += share.bytes;
  }
  return MPI_SUCCESS;
}

int deliver_all(const Communicator& c, const std::byte* from, long long block,
                const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    const int code = deliver(c.channel(), c.rank(), from, block, share);
    if (code != MPI_SUCCESS) return code;
    from += block;
  }
  return MPI_SUCCESS;
}

int direct(Communicator& c, const plan::Strategy& strategy) {
  DirectBinding binding(c.blocks);
  return execute(c.prepared(strategy).schedule, binding, c.channel(), direct_tag, c.requests);
}

/// Equal blocks of bytes one after the other.
void lay_out(std::byte* memory, long long block, std::size_t blocks, std::vector<Share>& shares) {
  shares.assign(blocks, {.region = {memory, block, MPI_BYTE}, .bytes = block, .dense = true});
  for (Share& share : shares) share.region.address = std::exchange(memory, memory + block);
}

/// In place: a copy of the data to send takes the place of the send buffer.
int send_from_copy(Communicator& c, std::byte* copy) {
  const int code = pack_all(c, c.blocks.receive, copy);
  lay_out(copy, c.blocks.block_bytes(), c.blocks.receive.size(), c.blocks.send);
  return code;
}

/// Equal blocks through several hops: contiguous bytes inside, the caller's datatypes at the edges.
int staged(Communicator& c, const plan::Strategy& strategy, std::byte* memory) {
  const Prepared& prepared = c.prepared(strategy);
  const std::vector<Share>&send = c.blocks.send, &receive = c.blocks.receive;
  const auto block = static_cast<std::size_t>(send.front().bytes);
  const std::size_t buffer = block * send.size();
  std::byte* const staging = memory;
  std::byte* const packed = staging + static_cast<std::size_t>(prepared.schedule.slots) * block;
  const bool lands_straight = all_dense(receive) && receive.front().bytes == send.front().bytes;
  std::byte* const landed = lands_straight
                                ? static_cast<std::byte*>(const_cast<void*>(receive.front().region.address))
                                : packed + buffer;
  const std::byte* source = static_cast<const std::byte*>(send.front().region.address);
  int code = MPI_SUCCESS;
  if (!all_dense(send)) {
    code = pack_all(c, send, packed);
    source = packed;
  }
  const std::size_t own = static_cast<std::size_t>(c.rank()) * block;
  std::memcpy(landed + own, source + own, block);
  UniformBinding binding(prepared.schedule, block, source, landed, staging);
  code = first_error(code, execute(prepared.schedule, binding, c.channel(), combined_tag, c.requests));
  return lands_straight ? code : first_error(code, deliver_all(c, landed, send.front().bytes, receive));
}

/// Pairs exchange through the library's own temporary memory. Both counts of a pair are equal in place.
int exchange_in_place(Communicator& c, const plan::Strategy& strategy) {
  int code = MPI_SUCCESS;
  for (const plan::Message& m : c.prepared(strategy).schedule.sends) {
    const Share& share = c.blocks.receive[static_cast<std::size_t>(m.peer)];
    if (share.bytes > 0) code = first_error(code, c.channel().replace(piece_of(share), m.peer, direct_tag));
  }
  return code;
}

int combined(Communicator& c, const plan::Strategy& strategy, std::size_t limit, Staging& staging) {
  const Prepared& prepared = c.prepared(strategy);
  const std::size_t bytes =
      CombinedBinding::staging_bytes(prepared.schedule.slots, prepared.layout.most_items, limit);
  const Staging::Lease lease = staging.lease(bytes);
  if (lease.data() == nullptr) return MPI_ERR_NO_MEM;
  CombinedBinding binding(prepared.schedule, prepared.layout, c.blocks, limit, lease.data(), c.channel());
  int code = execute(prepared.schedule, binding, c.channel(), combined_tag, c.requests);
  code = first_error(code, binding.status());
  LargeBinding large(c.blocks, binding);
  const plan::Schedule& straight = c.prepared(*plan::find_strategy(large_block_strategy)).schedule;
  return first_error(code, execute(straight, large, c.channel(), direct_tag, c.requests));
}

/// What the library says to MPI_DATATYPE_NULL where there is no data: it depends on how much it checks.
int judge_no_type(const mpi::Api& api) {
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

/// MPI_SUCCESS unless this rank's arguments are such that the library reports an error, yet no bar to its part.
int judge(const Communicator& c, Blocks& blocks) {
  if (!blocks.untyped) return MPI_SUCCESS;
  if (!blocks.untyped_code) blocks.untyped_code = judge_no_type(c.channel().api());
  return *blocks.untyped_code;
}

int exchange_uniform(Communicator& c, const plan::Strategy& strategy, Staging& staging) {
  const auto block = c.blocks.block_bytes();
  const bool several = strategy.hops == plan::Hops::several;
  if (!several && !c.blocks.in_place) {
    const auto own = static_cast<std::size_t>(c.rank());
    const int code = copy_own(c, c.blocks.send[own], c.blocks.receive[own]);
    return first_error(code, direct(c, strategy));
  }
  const int slots = several ? c.prepared(strategy).schedule.slots : 0;
  const auto copy_bytes = c.blocks.in_place ? static_cast<std::size_t>(block) * c.blocks.receive.size() : 0;
  const auto staged_bytes = static_cast<std::size_t>(choose::uniform_staging(slots, c.size(), block));
  const Staging::Lease lease = staging.lease(staged_bytes + copy_bytes);
  if (lease.data() == nullptr) return MPI_ERR_NO_MEM;
  const int code = c.blocks.in_place ? send_from_copy(c, lease.data()) : MPI_SUCCESS;
  return first_error(code, several ? staged(c, strategy, lease.data() + copy_bytes) : direct(c, strategy));
}

int exchange_irregular(Communicator& c, const plan::Strategy& strategy, std::uint32_t bucket,
                       Staging& staging) {
  if (c.blocks.in_place) return exchange_in_place(c, strategy);
  const auto own = static_cast<std::size_t>(c.rank());
  const int code = copy_own(c, c.blocks.send[own], c.blocks.receive[own]);
  return first_error(code, strategy.hops == plan::Hops::single
                               ? direct(c, strategy)
                               : combined(c, strategy, combined_limit(bucket), staging));
}

}  // namespace

std::size_t combined_limit(std::uint32_t bucket) {
  // Four times the average: a moderately uneven call stays combined; a multiple of 4 keeps messages aligned.
  constexpr std::size_t least = 256, most = 64 << 10;
  return bucket >= 16 ? most : std::clamp(std::size_t{4} << (bucket == 0 ? 0 : bucket - 1), least, most);
}

std::size_t combined_staging(int most_slots, int size, std::uint32_t bucket) {
  return CombinedBinding::staging_bytes(most_slots, 2 * (most_slots + size), combined_limit(bucket));
}

int perform_uniform(Communicator& c, const plan::Strategy& strategy, Staging& staging) {
  const long long block = c.blocks.block_bytes();
  std::vector<Share>& receive = c.blocks.receive;
  if (receive.front().bytes >= block) return exchange_uniform(c, strategy, staging);
  // Too little room on this rank: it does its part, and drops what comes. Receives that are too short would do as
  // well, had Open MPI 4 and 5 not the habit of filling them beyond their end.
  const Staging::Lease dropped = staging.lease(static_cast<std::size_t>(block) * receive.size());
  if (dropped.data() == nullptr) return MPI_ERR_NO_MEM;
  lay_out(dropped.data(), block, receive.size(), receive);
  return first_error(exchange_uniform(c, strategy, staging), MPI_ERR_TRUNCATE);
}

int perform_irregular(Communicator& c, const plan::Strategy& strategy, std::uint32_t bucket,
                      Staging& staging) {
  const int code = exchange_irregular(c, strategy, bucket, staging);
  return first_error(code, judge(c, c.blocks));
}

}  // namespace wherry::run
