// One block of any type to a rank and one from a rank, either of which may be missing: short blocks with the message
// that announces them; others, where the ranks are on one host and the system allows it, through memory that both share,
// long runs of large ones by one copy out of the sender's memory; all others in chunks that the cache holds, so that
// packing overlaps the transfer.
#pragma once

#include <cstddef>

#include "arguments/blocks.hpp"
#include "comm/channel.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/shared_chunks.hpp"

namespace wherry::run {

/// No data.
inline const Share no_block{.region = {nullptr, 0, MPI_BYTE}, .bytes = 0, .dense = true};

/// A block and the other rank, MPI_PROC_NULL if there is none. Where it comes from and its tag may be wildcards.
struct PairEnd {
  Endpoint peer;
  const Share& share;
};

/// What both ranks of a message need.
struct PairContext {
  const Channel& channel;
  datatype::TypeLayouts* layouts;  // nullptr: only the library can copy this memory
  std::byte* memory;               // pair_exchange_memory() bytes, or nullptr, with which it takes longer
  SharedConnections* shared =
      nullptr;  // the same in all exchanges with these ranks, or nullptr on all of them
};

/// What the receiver is offered if it is on the same host. Its answer, if there is one, has the tag of the block.
struct Offers {
  bool shared = false;  // memory of PairContext::shared
  bool own = false;     // this rank's own memory, to be read
};

std::size_t pair_exchange_memory();

/// What became of the incoming block.
struct Exchanged {
  int code;
  Endpoint from;       // of the incoming block
  long long received;  // bytes that came, more than there was room for if the code is MPI_ERR_TRUNCATE
  bool refused;        // the system does not let the receiver read this rank's memory
  bool
      is_reported;  // the library found the error, and has told the error handler of the channel's communicator
};

/// Sends `out` and receives `in`. The sender states the size of its block; a receiver with less room gets
/// MPI_ERR_TRUNCATE, after all messages. Of a block that could not be packed, zeros are sent. Each rank completes all
/// its messages, then returns its first error. Types that have no layout are packed by the library.
/// MPI_ERR_OTHER if something comes that exchange_pair() has not sent.
Exchanged exchange_pair(const PairContext& context, const PairEnd& out, const PairEnd& in,
                        const Offers& offers);

}  // namespace wherry::run
