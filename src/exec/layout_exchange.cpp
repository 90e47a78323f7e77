#include "exec/layout_exchange.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include "exec/block_bindings.hpp"
#include "exec/peer_memory.hpp"
#include "layout/pack.hpp"

namespace wherry::run {

namespace {

using layout::Range;

// Part of the protocol, alike on all ranks. Buffers of both directions together stay in the second-level cache.
constexpr long long chunk_bytes = 32 << 10;
constexpr int window = 4;  // chunks under way in each direction
static_assert(sizeof(Offer) <= chunk_bytes);

/// Memory for the chunks of both directions.
struct Chunks {
  std::byte* memory;
  int in_flight;  // of each direction

  std::byte* outgoing(int place) const { return memory + place * chunk_bytes; }
  std::byte* incoming(int place) const { return outgoing(in_flight + place); }
};

/// A block as a sequence of bytes, any range of which can be had.
class BlockBytes {
 public:
  BlockBytes(const Channel& channel, const Share& share, datatype::TypeLayouts& layouts)
      : channel_(channel),
        share_(share),
        memory_(static_cast<std::byte*>(const_cast<void*>(share.region.address))) {
    if (share.dense || share.bytes == 0) return;
    try {
      plan_ = layouts.plan(share.region.type, share.region.count);
    } catch (const std::bad_alloc&) {
    }
    if (plan_ != nullptr) return;
    whole_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(share.bytes)]);
    code_ = whole_ ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    memory_ = whole_.get();
  }

  int code() const { return code_; }
  long long bytes() const { return share_.bytes; }

  /// Its blocks by their addresses, where another process may read them, or they are to be read into; else none.
  std::vector<layout::Block> blocks() const {
    try {
      if (plan_ != nullptr) return readable_blocks(*plan_, memory_);
      if (!share_.dense || share_.bytes < Offer::least_block_bytes) return {};
      return {{reinterpret_cast<layout::Offset>(memory_), share_.bytes}};
    } catch (const std::bad_alloc&) {  // the others wait for this rank's part: in chunks, then
      return {};
    }
  }

  /// Before anything is sent.
  void load() {
    if (whole_)
      code_ = pack(channel_.api(), share_.region, false, whole_.get(), share_.bytes, channel_.comm());
  }
  /// Where the bytes of the range lie one after the other: in place, or packed into the chunk.
  std::byte* packed(Range range, std::byte* chunk) const {
    if (plan_ == nullptr) return lacks_memory() ? chunk : memory_ + range.begin;
    layout::pack(*plan_, memory_, chunk, range);
    return chunk;
  }
  /// Where the bytes of the range may land.
  std::byte* landing(Range range, std::byte* chunk) const {
    const bool straight = plan_ == nullptr && !lacks_memory() && range.end <= share_.bytes;
    return straight ? memory_ + range.begin : chunk;
  }
  /// They have landed there.
  void landed(Range range, const std::byte* chunk) {
    if (range.end > share_.bytes) code_ = first_error(code_, MPI_ERR_TRUNCATE);
    else if (plan_ != nullptr) layout::unpack(*plan_, memory_, chunk, range);
  }
  /// After all that is received.
  void store(long long received) {
    if (whole_ && code_ == MPI_SUCCESS) code_ = deliver(channel_, whole_.get(), received, share_);
  }

 private:
  bool lacks_memory() const { return code_ == MPI_ERR_NO_MEM; }

  const Channel& channel_;
  const Share& share_;
  std::byte* memory_;
  datatype::PlanPtr plan_;
  std::unique_ptr<std::byte[]> whole_;  // of a type without a layout
  int code_ = MPI_SUCCESS;
};

/// Chunk k of so many bytes.
Range range_of(long long k, long long bytes) {
  return {k * chunk_bytes, std::min((k + 1) * chunk_bytes, bytes)};
}

long long chunks_of(long long bytes) { return (bytes + chunk_bytes - 1) / chunk_bytes; }

/// One block out and one in, each of which may be missing.
class PairExchange {
 public:
  struct End {
    int peer;
    BlockBytes* block;
    long long bytes;
  };

  /// offers: whether the receiver may read this rank's memory; false from now on where the system refuses that.
  PairExchange(const Lane& lane, const Chunks& chunks, const End& out, const End& in, Spare& spare,
               bool& offers)
      : channel_(*lane.channel),
        tag_(lane.tag),
        chunks_(chunks),
        out_(out),
        in_(in),
        spare_(spare),
        offers_(offers) {}

  int run() {
    meet();
    const long long outgoing = theirs_ == Answer::read ? 0 : chunks_of(out_.bytes),
                    incoming = ours_ == Answer::read ? 0 : chunks_of(in_.bytes);
    const int places = chunks_.in_flight;
    for (long long k = 0; k < std::min<long long>(places, incoming); ++k) receive(k);
    for (long long k = 0; k < std::max(outgoing, incoming); ++k) {
      if (k < outgoing) send(k);
      if (k < incoming) take(k);
      if (k + places < incoming) receive(k + places);
    }
    for (MPI_Request& request : sends_) note(channel_.wait(request));
    return code_;
  }

  long long received() const { return in_.bytes; }

 private:
  /// Of a reader to an offer. refused: by the system.
  enum class Answer : char { in_chunks, read, refused };

  /// Each rank tells how much it has, and of its memory where the other is on its host. Whoever can, reads it; the
  /// answer says so, and that it is over.
  void meet() {
    auto* const offer = new (chunks_.outgoing(0)) Offer(out_.bytes);
    auto* const offered = new (chunks_.incoming(0)) Offer(0);
    if (offers_ && out_.bytes > 0) offer->set(out_.block->blocks());
    note(channel_.exchange({offer, static_cast<long long>(offer->message_bytes()), MPI_BYTE}, out_.peer,
                           {offered, sizeof *offered, MPI_BYTE}, in_.peer, tag_));
    in_.bytes = offered->bytes();
    const std::vector<layout::Block> to =
        offered->has_memory() ? in_.block->blocks() : std::vector<layout::Block>();
    if (!to.empty() && in_.bytes == in_.block->bytes())
      ours_ = offered->read(to) ? Answer::read : Answer::refused;
    note(channel_.exchange({&ours_, sizeof ours_, MPI_BYTE}, offered->has_memory() ? in_.peer : MPI_PROC_NULL,
                           {&theirs_, sizeof theirs_, MPI_BYTE},
                           offer->has_memory() ? out_.peer : MPI_PROC_NULL, tag_));
    if (theirs_ == Answer::refused) offers_ = false;
  }

  int place_of(long long k) const { return static_cast<int>(k % chunks_.in_flight); }
  std::size_t index_of(long long k) const { return static_cast<std::size_t>(place_of(k)); }

  void send(long long k) {
    MPI_Request& request = sends_[index_of(k)];
    note(channel_.wait(request));
    const Range range = range_of(k, out_.bytes);
    std::byte* const from = out_.block->packed(range, chunks_.outgoing(place_of(k)));
    note(channel_.send({from, range.end - range.begin, MPI_BYTE}, out_.peer, tag_, &request));
  }

  void receive(long long k) {
    const Range range = range_of(k, in_.bytes);
    std::byte* const to = in_.block->landing(range, chunks_.incoming(place_of(k)));
    note(channel_.receive({to, range.end - range.begin, MPI_BYTE}, in_.peer, tag_, &receives_[index_of(k)],
                          spare_));
  }

  void take(long long k) {
    const int code = note(channel_.wait(receives_[index_of(k)]));
    if (code == MPI_SUCCESS) in_.block->landed(range_of(k, in_.bytes), chunks_.incoming(place_of(k)));
  }

  int note(int code) {
    code_ = first_error(code_, code);
    return code;
  }

  const Channel& channel_;
  int tag_;
  const Chunks& chunks_;
  End out_, in_;
  Spare& spare_;
  bool& offers_;
  Answer ours_ = Answer::in_chunks, theirs_ = Answer::in_chunks;  // about what comes, and what goes
  std::array<MPI_Request, window> sends_ = none(), receives_ = none();
  int code_ = MPI_SUCCESS;

  static std::array<MPI_Request, window> none() {
    std::array<MPI_Request, window> requests;
    requests.fill(MPI_REQUEST_NULL);
    return requests;
  }
};

const Share no_block = {.region = {nullptr, 0, MPI_BYTE}, .bytes = 0, .dense = true};

const Share& share_of(const std::vector<Share>& shares, std::span<const schedule::Message> messages) {
  return messages.empty() ? no_block : shares[static_cast<std::size_t>(messages.front().peer)];
}

int peer_of(std::span<const schedule::Message> messages) {
  return messages.empty() ? MPI_PROC_NULL : messages.front().peer;
}

int exchange_in(const Chunks& chunks, const schedule::Schedule& schedule, const Blocks& blocks,
                const Lane& lane, datatype::TypeLayouts& layouts, const Peers& peers) {
  Spare spare;
  int code = MPI_SUCCESS;
  for (const schedule::Phase& phase : schedule.phases) {
    const auto sends = schedule.sends_of(phase), receives = schedule.receives_of(phase);
    const Share &from = share_of(blocks.send, sends), &to = share_of(blocks.receive, receives);
    BlockBytes out(*lane.channel, from, layouts), in(*lane.channel, to, layouts);
    out.load();
    const int to_peer = peer_of(sends), from_peer = peer_of(receives);
    const bool is_near = to_peer >= 0 && peers.placement.same_node(schedule.rank, to_peer);
    bool offers = is_near && *peers.readable;
    PairExchange pair(lane, chunks, {to_peer, &out, from.bytes}, {from_peer, &in, 0}, spare, offers);
    code = first_error(code, pair.run());
    if (is_near && !offers) *peers.readable = false;
    in.store(pair.received());
    code = first_error(first_error(code, out.code()), in.code());
  }
  return code;
}

/// A rank without memory has one chunk in each direction: it must do its part all the same.
[[gnu::noinline]] int exchange_on_stack(const schedule::Schedule& schedule, const Blocks& blocks,
                                        const Lane& lane, datatype::TypeLayouts& layouts,
                                        const Peers& peers) {
  alignas(Offer) std::array<std::byte, 2 * chunk_bytes> memory;
  return exchange_in({memory.data(), 1}, schedule, blocks, lane, layouts, peers);
}

}  // namespace

bool is_pairwise(const schedule::Schedule& schedule) {
  return std::ranges::all_of(schedule.phases, [](const auto& p) { return p.sends <= 1 && p.receives <= 1; });
}

std::size_t layout_exchange_memory() { return 2 * window * chunk_bytes; }

int exchange_layouts(const schedule::Schedule& schedule, const Blocks& blocks, const Lane& lane,
                     datatype::TypeLayouts& layouts, const Peers& peers, std::byte* memory) {
  return memory != nullptr ? exchange_in({memory, window}, schedule, blocks, lane, layouts, peers)
                           : exchange_on_stack(schedule, blocks, lane, layouts, peers);
}

bool copy_layouts(const Share& from, const Share& to, datatype::TypeLayouts& layouts) {
  if (from.bytes != to.bytes) return false;
  const datatype::PlanPtr from_plan = layouts.plan(from.region.type, from.region.count);
  const datatype::PlanPtr to_plan = layouts.plan(to.region.type, to.region.count);
  if (from_plan == nullptr || to_plan == nullptr) return false;
  layout::copy(*to_plan, static_cast<std::byte*>(const_cast<void*>(to.region.address)), *from_plan,
               static_cast<const std::byte*>(from.region.address));
  return true;
}

}  // namespace wherry::run
