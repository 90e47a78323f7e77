#include "exec/pair_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "exec/block_bindings.hpp"
#include "exec/peer_memory.hpp"
#include "layout/pack.hpp"

namespace wherry::run {

namespace {

using layout::DataRange;

// Part of the protocol, alike on all ranks. Buffers of both directions together stay in the second-level cache.
constexpr long long chunk_bytes = 64 << 10;
constexpr int window = 8;  // chunks under way in each direction
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
  BlockBytes(const PairContext& context, const Share& share)
      : channel_(context.channel),
        share_(share),
        memory_(static_cast<std::byte*>(const_cast<void*>(share.region.address))) {
    if (share.bytes == 0 || (share.dense && context.layouts != nullptr)) return;
    try {
      if (context.layouts != nullptr) plan_ = context.layouts->plan(share.region.type, share.region.count);
    } catch (const std::bad_alloc&) {
    }
    if (plan_ != nullptr) return;
    whole_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(share.bytes)]());
    if (!whole_) fail(MPI_ERR_NO_MEM);
    else if (!datatype::is_packable(share.region, share.bytes)) fail(MPI_ERR_COUNT);
    memory_ = whole_.get();
  }

  int code() const { return code_; }
  /// Whether the library found the error.
  bool is_reported() const { return code_ != MPI_SUCCESS && !is_own_; }
  long long bytes() const { return share_.bytes; }

  /// Its blocks by their addresses, where another process may read them, or they are to be read into; else none.
  std::vector<layout::ByteBlock> blocks() const {
    try {
      if (plan_ != nullptr) return readable_blocks(*plan_, memory_);
      if (whole_ || lacks_memory() || share_.bytes < Offer::least_block_bytes) return {};
      return {{reinterpret_cast<layout::Offset>(memory_), share_.bytes}};
    } catch (const std::bad_alloc&) {  // the others wait for this rank's part: in chunks, then
      return {};
    }
  }

  /// Before anything is sent.
  void load() {
    if (whole_ && code_ == MPI_SUCCESS)
      code_ = pack(channel_.api(), share_.region, false, whole_.get(), share_.bytes, channel_.comm());
  }
  /// Where the bytes of the range lie one after the other: in place, or packed into the chunk.
  std::byte* packed(DataRange range, std::byte* chunk) const {
    if (plan_ == nullptr && !lacks_memory()) return memory_ + range.begin;
    if (plan_ == nullptr) std::memset(chunk, 0, static_cast<std::size_t>(range.end - range.begin));
    else layout::pack(*plan_, memory_, chunk, range);
    return chunk;
  }
  /// Into memory that has room.
  void write(DataRange range, std::byte* to) const {
    if (range.begin == range.end) return;
    const std::byte* const from = packed(range, to);
    if (from != to) std::memcpy(to, from, static_cast<std::size_t>(range.end - range.begin));
  }
  /// Where the bytes of the range may land.
  std::byte* landing(DataRange range, std::byte* chunk) const {
    const bool straight = plan_ == nullptr && !lacks_memory() && range.end <= share_.bytes;
    return straight ? memory_ + range.begin : chunk;
  }
  /// They have landed there.
  void landed(DataRange range, const std::byte* place) {
    if (range.end > share_.bytes) fail(MPI_ERR_TRUNCATE);
    else if (plan_ != nullptr) layout::unpack(*plan_, memory_, place, range);
  }
  /// From memory that is not this rank's own.
  void read(DataRange range, const std::byte* from) {
    std::byte* const place = landing(range, nullptr);
    if (place != nullptr) std::memcpy(place, from, static_cast<std::size_t>(range.end - range.begin));
    landed(range, from);
  }
  /// After all that is received.
  void store(long long received) {
    if (whole_ && received > share_.bytes) fail(MPI_ERR_TRUNCATE);
    if (whole_ && code_ == MPI_SUCCESS)
      code_ = BlockPacker(channel_, nullptr).deliver(whole_.get(), received, share_);
  }

 private:
  bool lacks_memory() const { return is_own_ && !whole_ && code_ == MPI_ERR_NO_MEM; }
  void fail(int code) {
    is_own_ = is_own_ || code_ == MPI_SUCCESS;
    code_ = first_error(code_, code);
  }

  const Channel& channel_;
  const Share& share_;
  std::byte* memory_;
  datatype::PlanPtr plan_;
  std::unique_ptr<std::byte[]> whole_;  // of a type without a layout
  int code_ = MPI_SUCCESS;
  bool is_own_ = false;  // Wherry found the error
};

/// A block in chunks.
struct Course {
  long long bytes = 0;             // of the block; 0: it is there already
  SharedChunks* shared = nullptr;  // through which they go; nullptr: as messages

  long long chunk() const { return shared != nullptr ? SharedChunks::chunk_bytes : chunk_bytes; }
  long long chunks() const { return (bytes + chunk() - 1) / chunk(); }
  /// Messages are waited for, in turn.
  bool can_send() const { return shared == nullptr || shared->has_free_chunk(); }
  bool can_take() const { return shared == nullptr || shared->has_chunk(); }
  DataRange range(long long k) const { return {k * chunk(), std::min((k + 1) * chunk(), bytes)}; }
};

/// One block out and one in, each of which may be missing.
class PairExchange {
 public:
  struct End {
    Endpoint peer;
    BlockBytes& block;
    long long bytes;
  };

  PairExchange(const PairContext& context, const Chunks& chunks, const End& out, const End& in,
               const Offers& offers)
      : channel_(context.channel),
        shared_(context.shared),
        chunks_(chunks),
        out_(out),
        in_(in),
        offers_(offers) {}

  Exchanged run() {
    meet();
    const long long outgoing = outgoing_.chunks(), incoming = incoming_.chunks();
    for (long long k = 0; k < std::min<long long>(chunks_.in_flight, incoming); ++k) receive(k);
    for (long long sent = 0, taken = 0; sent < outgoing || taken < incoming;) {
      const auto can_send = [&] { return sent < outgoing && outgoing_.can_send(); };
      const auto can_take = [&] { return taken < incoming && incoming_.can_take(); };
      channel_.wait_until([&] { return can_send() || can_take(); });
      if (can_send() && (sent <= taken || !can_take())) {
        send(sent++);
      } else {
        take(taken++);
        if (const long long next = taken - 1 + chunks_.in_flight; next < incoming) receive(next);
      }
    }
    for (MPI_Request& request : sends_) note(channel_.wait(request));
    return {code_, in_.peer, in_.bytes, theirs_.refused, is_reported_};
  }

 private:
  /// To an offer.
  struct Answer {
    bool reads = false;    // the sender's memory was read
    bool refused = false;  // the system does not allow that
    bool shares = false;   // what both share is open
  };

  /// Each rank tells how much it has; few data come with that. Whoever is offered memory and can, reads it; the answer
  /// says so, and that it is over.
  void meet() {
    auto* const offer = new (chunks_.outgoing(0)) Offer(out_.bytes);
    auto* const offered = new (chunks_.incoming(0)) Offer(0);
    SharedConnections::Connection* const connection = fill(*offer);
    get_offer(*offer, *offered);
    in_.bytes = offered->bytes();
    if (offered->data() != nullptr) in_.block.read({0, in_.bytes}, offered->data());
    if (offered->has_memory()) read_memory(*offered);
    if (offered->is_shared()) join(*offered);
    constexpr Endpoint nobody{MPI_PROC_NULL, 0};
    note(channel_.exchange({&ours_, sizeof ours_}, offered->asks() ? in_.peer : nobody,
                           {&theirs_, sizeof theirs_}, offer->asks() ? out_.peer : nobody));
    if (connection != nullptr && !connection->is_open) shared_->answered(*connection, theirs_.shares);
    if (connection != nullptr) outgoing_.shared = connection->chunks.get();
    if (offer->data() == nullptr && !theirs_.reads) outgoing_.bytes = out_.bytes;
    if (offered->data() == nullptr && !ours_.reads) incoming_.bytes = in_.bytes;
  }

  /// What the block may go through, or nullptr.
  SharedConnections::Connection* fill(Offer& offer) {
    if (out_.bytes <= Offer::most_data) {
      out_.block.write({0, out_.bytes}, offer.set_data());
      return nullptr;
    }
    auto* const connection = offers_.shared ? shared_->to(out_.peer.rank) : nullptr;
    if (connection != nullptr) offer.set(connection->is_open ? SharedKey() : connection->chunks->key());
    if (offers_.own && (connection == nullptr || out_.bytes > SharedChunks::most_bytes))
      offer.set(out_.block.blocks());
    return connection;
  }

  void read_memory(const Offer& offered) {
    const std::vector<layout::ByteBlock> to = in_.block.blocks();
    if (to.empty() || in_.bytes != in_.block.bytes()) return;
    ours_.reads = offered.read(to);
    ours_.refused = !ours_.reads;
  }

  /// Opens memory to share that is new.
  void join(const Offer& offered) {
    if (shared_ == nullptr) return;
    const bool is_new = offered.key().descriptor >= 0;
    incoming_.shared = is_new ? shared_->open(in_.peer.rank, offered.key()) : shared_->from(in_.peer.rank);
    ours_.shares = incoming_.shared != nullptr;
  }

  /// Without one, nothing comes.
  void get_offer(Offer& offer, Offer& offered) {
    MPI_Status status;
    const int code = note(channel_.exchange({&offer, static_cast<long long>(offer.message_bytes())},
                                            out_.peer, {&offered, sizeof offered}, in_.peer, &status));
    if (in_.peer.rank == MPI_PROC_NULL) return;
    int bytes = 0;
    if (code == MPI_SUCCESS) {
      in_.peer = {status.MPI_SOURCE, status.MPI_TAG};
      channel_.api().Get_count(&status, MPI_BYTE, &bytes);
      if (offered.is_whole(static_cast<std::size_t>(bytes))) return;
      code_ = first_error(code_, MPI_ERR_OTHER);
    }
    new (&offered) Offer(0);
  }

  int place_of(long long k) const { return static_cast<int>(k % chunks_.in_flight); }
  std::size_t index_of(long long k) const { return static_cast<std::size_t>(place_of(k)); }

  void send(long long k) {
    const DataRange range = outgoing_.range(k);
    if (SharedChunks* const shared = outgoing_.shared) {
      out_.block.write(range, shared->free_chunk());
      return shared->put();
    }
    MPI_Request& request = sends_[index_of(k)];
    note(channel_.wait(request));
    std::byte* const from = out_.block.packed(range, chunks_.outgoing(place_of(k)));
    note(channel_.send({from, range.end - range.begin, MPI_BYTE}, out_.peer.rank, out_.peer.tag, &request));
  }

  void receive(long long k) {
    if (incoming_.shared != nullptr) return;
    const DataRange range = incoming_.range(k);
    std::byte* const to = in_.block.landing(range, chunks_.incoming(place_of(k)));
    note(channel_.receive({to, range.end - range.begin, MPI_BYTE}, in_.peer.rank, in_.peer.tag,
                          &receives_[index_of(k)], spare_));
  }

  void take(long long k) {
    if (SharedChunks* const shared = incoming_.shared) {
      in_.block.read(incoming_.range(k), shared->chunk());
      return shared->take();
    }
    const int code = note(channel_.wait(receives_[index_of(k)]));
    if (code == MPI_SUCCESS) in_.block.landed(incoming_.range(k), chunks_.incoming(place_of(k)));
  }

  /// Of the library.
  int note(int code) {
    is_reported_ = is_reported_ || (code_ == MPI_SUCCESS && code != MPI_SUCCESS);
    code_ = first_error(code_, code);
    return code;
  }

  static std::array<MPI_Request, window> none() {
    std::array<MPI_Request, window> requests;
    requests.fill(MPI_REQUEST_NULL);
    return requests;
  }

  const Channel& channel_;
  SharedConnections* const shared_;
  const Chunks& chunks_;
  End out_, in_;
  Offers offers_;
  Course outgoing_, incoming_;
  Answer ours_, theirs_;  // about what comes, and what goes
  std::array<MPI_Request, window> sends_ = none(), receives_ = none();
  Spare spare_;
  int code_ = MPI_SUCCESS;
  bool is_reported_ = false;
};

Exchanged exchange_in(const Chunks& chunks, const PairContext& context, const PairEnd& out, const PairEnd& in,
                      const Offers& offers) {
  BlockBytes outgoing(context, out.share), incoming(context, in.share);
  outgoing.load();
  PairExchange pair(context, chunks, {out.peer, outgoing, out.share.bytes}, {in.peer, incoming, 0}, offers);
  Exchanged done = pair.run();
  incoming.store(done.received);
  for (const BlockBytes* block : {&outgoing, &incoming}) {
    if (done.code == MPI_SUCCESS) done.is_reported = block->is_reported();
    done.code = first_error(done.code, block->code());
  }
  return done;
}

/// A rank without memory has one chunk in each direction: it must do its part all the same.
[[gnu::noinline]] Exchanged exchange_on_stack(const PairContext& context, const PairEnd& out,
                                              const PairEnd& in, const Offers& offers) {
  alignas(Offer) std::array<std::byte, 2 * chunk_bytes> memory;
  return exchange_in({memory.data(), 1}, context, out, in, offers);
}

}  // namespace

std::size_t pair_exchange_memory() { return 2 * window * chunk_bytes; }

Exchanged exchange_pair(const PairContext& context, const PairEnd& out, const PairEnd& in,
                        const Offers& offers) {
  return context.memory != nullptr ? exchange_in({context.memory, window}, context, out, in, offers)
                                   : exchange_on_stack(context, out, in, offers);
}

}  // namespace wherry::run
