#include "run/perform.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "run/large_count.hpp"

namespace wherry::run {

namespace {

constexpr int combined_tag = 1;
constexpr int direct_tag = 2;

/// How blocks travel that are too large to be combined.
constexpr std::string_view large_block_strategy = "direct16";

/// The block that a rank has for itself.
int copy_own(const Communicator& c, const Share& from, const Share& to) {
  if (from.bytes == 0 && to.bytes == 0) return MPI_SUCCESS;
  if (from.dense && to.dense && from.bytes == to.bytes) {
    if (from.region.address != to.region.address)
      std::memmove(const_cast<void*>(to.region.address), from.region.address,
                   static_cast<std::size_t>(from.bytes));
    return MPI_SUCCESS;
  }
  const Piece out = {const_cast<void*>(from.region.address), from.region.count, from.region.type};
  const Piece in = {const_cast<void*>(to.region.address), to.region.count, to.region.type};
  return c.channel().exchange(out, c.rank(), in, c.rank(), direct_tag);
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

int unpack_all(const Communicator& c, const std::byte* from, const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    const int code =
        unpack(c.channel().api(), from, share.bytes, share.region, share.dense, c.channel().comm());
    if (code != MPI_SUCCESS) return code;
    from += share.bytes;
  }
  return MPI_SUCCESS;
}

int direct(Communicator& c, const plan::Strategy& strategy, long long skip_bytes = -1) {
  DirectBinding binding(c.blocks, skip_bytes);
  return execute(c.prepared(strategy).schedule, binding, c.channel(), direct_tag, c.requests);
}

/// In place: a copy of the data to send takes the place of the send buffer.
int send_from_copy(Communicator& c, std::byte* copy) {
  if (const int code = pack_all(c, c.blocks.receive, copy); code != MPI_SUCCESS) return code;
  const long long bytes = c.blocks.receive.front().bytes;
  c.blocks.send.resize(c.blocks.receive.size());
  for (std::size_t i = 0; i < c.blocks.send.size(); ++i)
    c.blocks.send[i] = {
        .region = {copy + static_cast<long long>(i) * bytes, bytes, MPI_BYTE}, .bytes = bytes, .dense = true};
  return MPI_SUCCESS;
}

/// Equal blocks through several hops: contiguous bytes inside, the caller's datatypes at the edges.
int staged(Communicator& c, const plan::Strategy& strategy, std::byte* memory) {
  const Prepared& prepared = c.prepared(strategy);
  const std::vector<Share>&send = c.blocks.send, &receive = c.blocks.receive;
  const auto block = static_cast<std::size_t>(receive.front().bytes);
  const std::size_t buffer = block * receive.size();
  std::byte* const staging = memory;
  std::byte* const packed = staging + static_cast<std::size_t>(prepared.schedule.slots) * block;
  std::byte* const landed = all_dense(receive)
                                ? static_cast<std::byte*>(const_cast<void*>(receive.front().region.address))
                                : packed + buffer;
  const std::byte* source = static_cast<const std::byte*>(send.front().region.address);
  if (!all_dense(send)) {
    if (const int code = pack_all(c, send, packed); code != MPI_SUCCESS) return code;
    source = packed;
  }
  const std::size_t own = static_cast<std::size_t>(c.rank()) * block;
  std::memcpy(landed + own, source + own, block);
  UniformBinding binding(prepared.schedule, block, source, landed, staging);
  const int code = execute(prepared.schedule, binding, c.channel(), combined_tag, c.requests);
  return code != MPI_SUCCESS || all_dense(receive) ? code : unpack_all(c, landed, receive);
}

/// Pairs exchange through the library's own temporary memory. Both counts of a pair are equal in place.
int exchange_in_place(Communicator& c, const plan::Strategy& strategy) {
  const mpi::Api& api = c.channel().api();
  for (const plan::Message& m : c.prepared(strategy).schedule.sends) {
    const Share& share = c.blocks.receive[static_cast<std::size_t>(m.peer)];
    if (share.bytes == 0) continue;
    const int code = with_int_count(
        api, share.region.count, share.region.type, INT_MAX, [&](int count, MPI_Datatype type) {
          return api.Sendrecv_replace(const_cast<void*>(share.region.address), count, type, m.peer,
                                      direct_tag, m.peer, direct_tag, c.channel().comm(), MPI_STATUS_IGNORE);
        });
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int combined(Communicator& c, const plan::Strategy& strategy, std::size_t limit, Staging& staging) {
  const Prepared& prepared = c.prepared(strategy);
  const std::size_t bytes =
      CombinedBinding::staging_bytes(prepared.schedule.slots, prepared.layout.most_items, limit);
  const Staging::Lease lease = staging.lease(bytes);
  if (lease.data() == nullptr) return MPI_ERR_NO_MEM;
  CombinedBinding binding(prepared.schedule, prepared.layout, c.blocks, limit, lease.data(), c.channel());
  const int code = execute(prepared.schedule, binding, c.channel(), combined_tag, c.requests);
  if (code != MPI_SUCCESS) return code;
  if (binding.status() != MPI_SUCCESS) return binding.status();
  return direct(c, *plan::find_strategy(large_block_strategy), static_cast<long long>(limit));
}

}  // namespace

std::size_t uniform_staging(int most_slots, int size, long long block_bytes) {
  return (static_cast<std::size_t>(most_slots) + 2 * static_cast<std::size_t>(size)) *
         static_cast<std::size_t>(block_bytes);
}

std::size_t combined_limit(std::uint32_t bucket) {
  // Four times the average: a moderately uneven call stays combined; a multiple of 4 keeps messages aligned.
  constexpr std::size_t least = 256, most = 64 << 10;
  return bucket >= 16 ? most : std::clamp(std::size_t{4} << (bucket == 0 ? 0 : bucket - 1), least, most);
}

std::size_t combined_staging(int most_slots, int size, std::uint32_t bucket) {
  return CombinedBinding::staging_bytes(most_slots, 2 * (most_slots + size), combined_limit(bucket));
}

int perform_uniform(Communicator& c, const plan::Strategy& strategy, Staging& staging) {
  const auto block = c.blocks.receive.front().bytes;
  const bool several = strategy.hops == plan::Hops::several;
  if (!several && !c.blocks.in_place) {
    const auto own = static_cast<std::size_t>(c.rank());
    const int code = copy_own(c, c.blocks.send[own], c.blocks.receive[own]);
    return code == MPI_SUCCESS ? direct(c, strategy) : code;
  }
  const int slots = several ? c.prepared(strategy).schedule.slots : 0;
  const auto copy_bytes = c.blocks.in_place ? static_cast<std::size_t>(block) * c.blocks.receive.size() : 0;
  const Staging::Lease lease = staging.lease(uniform_staging(slots, c.size(), block) + copy_bytes);
  if (lease.data() == nullptr) return MPI_ERR_NO_MEM;
  if (c.blocks.in_place)
    if (const int code = send_from_copy(c, lease.data()); code != MPI_SUCCESS) return code;
  return several ? staged(c, strategy, lease.data() + copy_bytes) : direct(c, strategy);
}

int perform_irregular(Communicator& c, const plan::Strategy& strategy, std::uint32_t bucket,
                      Staging& staging) {
  if (c.blocks.in_place) return exchange_in_place(c, strategy);
  const auto own = static_cast<std::size_t>(c.rank());
  if (const int code = copy_own(c, c.blocks.send[own], c.blocks.receive[own]); code != MPI_SUCCESS)
    return code;
  if (strategy.hops == plan::Hops::single) return direct(c, strategy);
  return combined(c, strategy, combined_limit(bucket), staging);
}

}  // namespace wherry::run
