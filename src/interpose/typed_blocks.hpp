// MPI_Neighbor_alltoallw of derived types, which Wherry may pack and unpack itself. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "interpose/typed_messages.hpp"
#include "interpose/typed_requests.hpp"
#include "p2p/block_transfer.hpp"

namespace wherry::interpose {

/// The arguments of a wrapper about one side. `next` uses the wrapper's own variables.
template <class Memory, class Count>
struct BlockArguments {
  Memory& buffer;
  const Count*& counts;
  const MPI_Aint*& displacements;
  const MPI_Datatype*& types;

  std::vector<p2p::Elements> elements(std::size_t blocks) const {
    std::vector<p2p::Elements> all(blocks);
    auto* const base = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(buffer)));
    for (std::size_t i = 0; i < blocks; ++i) {
      all[i].memory = buffer == MPI_BOTTOM ? nullptr : base + displacements[i];
      all[i].count = counts[i];
      all[i].type = types[i];
    }
    return all;
  }
};

/// Arrays that say bytes where blocks were taken. Displacements are addresses, so a block may be anywhere.
template <class Count>
struct ByteArrays {
  template <class Memory>
  ByteArrays(const BlockArguments<Memory, Count>& arguments, const std::vector<p2p::Elements>& blocks) {
    const auto base = reinterpret_cast<MPI_Aint>(arguments.buffer);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const p2p::Elements& block = blocks[i];
      const bool taken = block.is_taken();
      counts.push_back(taken ? static_cast<Count>(block.bytes) : arguments.counts[i]);
      displacements.push_back(taken ? reinterpret_cast<MPI_Aint>(block.packed.get()) - base
                                    : arguments.displacements[i]);
      types.push_back(taken ? MPI_BYTE : arguments.types[i]);
    }
  }

  std::vector<Count> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
};

/// While it lives, the wrapper's arguments are these.
template <class Memory, class Count>
class BlocksAsBytes {
 public:
  BlocksAsBytes(const BlockArguments<Memory, Count>& arguments, const ByteArrays<Count>& arrays)
      : arguments_(arguments), before_(arguments.counts, arguments.displacements, arguments.types) {
    arguments_.counts = arrays.counts.data();
    arguments_.displacements = arrays.displacements.data();
    arguments_.types = arrays.types.data();
  }
  BlocksAsBytes(const BlocksAsBytes&) = delete;
  BlocksAsBytes& operator=(const BlocksAsBytes&) = delete;
  ~BlocksAsBytes() { std::tie(arguments_.counts, arguments_.displacements, arguments_.types) = before_; }

 private:
  BlockArguments<Memory, Count> arguments_;
  const std::tuple<const Count*, const MPI_Aint*, const MPI_Datatype*> before_;
};

/// The arrays of both sides.
template <class Count>
struct ByteCall {
  ByteArrays<Count> sent, received;
};

/// Blocks that a rank sends and receives on comm.
struct BlockNumbers {
  std::size_t out = 0, in = 0;
};
inline BlockNumbers numbers_of_blocks(MPI_Comm comm) {
  const std::lock_guard lengths(backend().record.lock);
  return {static_cast<std::size_t>(targets(comm)), static_cast<std::size_t>(sources(comm))};
}

/// Whether any block may be Wherry's to move.
template <class Memory, class Count>
bool has_known(const BlockArguments<Memory, Count>& arguments, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i)
    if (!backend().converter.is_native(arguments.types[i], arguments.counts[i])) return true;
  return false;
}

/// Of a call for Messages::pass(): other types in the same arrays stay native for a few calls.
inline std::uint64_t place_of_blocks(const void* site, MPI_Comm comm, const MPI_Datatype sent[],
                                     const MPI_Datatype received[]) {
  return hashed(hashed(number_of(site) ^ number_of(comm)) ^ number_of(sent) ^ (number_of(received) << 1));
}

/// Has the library exchange blocks: as they are, or as bytes that Wherry's kernels pack and unpack.
template <class Count, class Next>
int exchange_blocks(const Call& call, const BlockArguments<const void*, Count>& sent,
                    const BlockArguments<void*, Count>& received, MPI_Comm comm, p2p::BlockTransfer& transfer,
                    const Next& next) {
  if (!backend().packing() || comm == MPI_COMM_NULL || sent.types == nullptr || received.types == nullptr)
    return next();
  const std::uint64_t place = place_of_blocks(call.site(), comm, sent.types, received.types);
  if (backend().messages.passes(place)) return next();
  const auto [out, in] = numbers_of_blocks(comm);
  if ((!has_known(sent, out) && !has_known(received, in)) || !p2p::tells_errors(backend().api(), comm))
    return next();
  transfer.sent = sent.elements(out);
  transfer.received = received.elements(in);
  transfer.begin(kind_of<Count>(call, MPI_PROC_NULL, obstacle_in(comm)), place, backend().messages,
                 backend().converter);
  int code = MPI_SUCCESS;
  if (transfer.copier == p2p::Copier::kernels) {
    const ByteCall<Count> arrays{{sent, transfer.sent}, {received, transfer.received}};
    const BlocksAsBytes bytes_sent(sent, arrays.sent), bytes_received(received, arrays.received);
    code = next();
  } else {
    code = next();
  }
  const bool valid =
      code == MPI_SUCCESS && transfer.has_unknown() && p2p::tells_errors(backend().api(), comm);
  transfer.end(backend().messages, backend().converter, code == MPI_SUCCESS, valid);
  return code;
}

/// MPI_Ineighbor_alltoallw, where it is native: the blocks are unpacked in the call that completes it.
template <class Count, class Next>
int start_blocks(Call& call, const BlockArguments<const void*, Count>& sent,
                 const BlockArguments<void*, Count>& received, MPI_Comm comm, MPI_Request* request,
                 p2p::BlockTransfer& transfer, const Next& next) {
  p2p::PendingMessages& pending = backend().pending;
  if (!backend().packing() || pending.native().is_open() || comm == MPI_COMM_NULL || request == nullptr ||
      sent.types == nullptr || received.types == nullptr)
    return next();
  const std::uint64_t place =
      backend().recording() ? 0 : place_of_blocks(call.site(), comm, sent.types, received.types);
  if (pending.native().begins(place)) return next();
  const auto [out, in] = numbers_of_blocks(comm);
  if ((!has_known(sent, out) && !has_known(received, in)) || !is_the_programs(call) ||
      !p2p::tells_errors(backend().api(), comm))
    return next();
  transfer.sent = sent.elements(out);
  transfer.received = received.elements(in);
  p2p::Exchange::Turn turn;
  pending.begin(kind_of<Count>(call, MPI_PROC_NULL, obstacle_in(comm)), place, transfer, turn);
  if (!pending.is_idle()) backend().wrap_completion();
  const NewRequest made(request);
  std::shared_ptr<const ByteCall<Count>> arrays;
  int code = MPI_SUCCESS;
  if (transfer.copier == p2p::Copier::kernels) {
    arrays = std::make_shared<ByteCall<Count>>(
        ByteCall<Count>{{sent, transfer.sent}, {received, transfer.received}});
    const BlocksAsBytes bytes_sent(sent, arrays->sent), bytes_received(received, arrays->received);
    code = next();
  } else {
    code = next();
  }
  pending.begun(transfer, turn, *request, made.is_made(), std::move(arrays));
  return code;
}

/// A form whose derived types only the library moves. Needs an account.
void book_library_copies(const Call& call, const Volume& volume);

/// Who moved the data of a call, and what was measured. Needs an account.
void book_blocks(const Call& call, const p2p::BlockTransfer& transfer);

}  // namespace wherry::interpose
