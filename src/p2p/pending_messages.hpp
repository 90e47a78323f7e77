// Nonblocking and persistent messages of derived types by bytes that Wherry's kernels pack and unpack, where that is
// faster. The program's request is a native one, for a message of bytes; of a persistent request there are two,
// and each start takes one of them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "mpi/api.hpp"
#include "p2p/block_transfer.hpp"
#include "p2p/elements.hpp"
#include "p2p/message_exchange.hpp"
#include "p2p/messages.hpp"
#include "p2p/native_messages.hpp"

namespace wherry::p2p {

enum class MessageDirection : std::uint8_t { out, in };

/// A message under way, or the blocks of one collective.
struct Pending {
  std::shared_ptr<const Elements> elements;  // of a message, and
  std::shared_ptr<const BlocksUnderWay>
      blocks;  // of a collective; neither: the library moves them, only time counts
  MessageDirection direction = MessageDirection::out;
  MPI_Request request =
      MPI_REQUEST_NULL;  // the native one; of a persistent message it may not be the program's
  bool is_persistent = false;
  bool is_delivered = false;

  bool is_taken() const { return elements != nullptr || blocks != nullptr; }
  bool is_received() const {
    return !is_delivered && (blocks != nullptr || (elements != nullptr && direction == MessageDirection::in));
  }
};

/// What a persistent request was made with, besides the elements.
struct PersistentArguments {
  decltype(&PMPI_Send_init) make_send;  // of the same mode; nullptr: it receives
  int peer, tag;
  MPI_Comm comm;
};

/// Thread-safe.
class PendingMessages {
 public:
  /// abandoned: where it counts those, for whoever asks has_abandoned() at every call.
  PendingMessages(LayoutLever lever, Converter& converter, const mpi::Api& api,
                  std::atomic<std::size_t>& abandoned)
      : converter_(converter), api_(api), exchange_(lever), abandoned_count_(abandoned) {}

  /// Whether no completing call need be looked at. For any thread.
  bool is_idle() const { return busy_.load(std::memory_order_relaxed) == 0; }
  /// Whether a call on these requests need be looked at. For any thread that the program has given the requests to:
  /// that it did, orders this after the start of the messages.
  bool concerns(std::span<const MPI_Request> requests) const {
    if (is_idle()) return false;
    return std::ranges::any_of(requests, [this](MPI_Request request) { return may_have(request); });
  }

  /// What is decided to be native, so that the types of a halo's other messages need not be looked up.
  NativeMessages& native() { return native_; }
  /// This thread completes something. Whether that need not be looked at: a native exchange, and no other is
  /// followed, whose requests may be among this thread's.
  bool ends_native_exchange() { return native_.end() && native_.is_allowed(); }
  /// Decides, and packs what is sent. Then the library begins the message, and begun() follows.
  /// place: of the message, or the call, for NativeMessages; 0: none.
  void begin(const MessageKind& kind, std::uint64_t place, MessageTransfer& transfer, Exchange::Turn& turn);
  /// request: MPI_REQUEST_NULL if it failed. valid: the library has taken the arguments for right.
  void begun(MessageTransfer& transfer, const Exchange::Turn& turn, MPI_Request request, bool valid);

  /// The same of a collective of neighbors. arguments: what the library reads until it is over.
  void begin(const MessageKind& kind, std::uint64_t place, BlockTransfer& transfer, Exchange::Turn& turn);
  void begun(BlockTransfer& transfer, const Exchange::Turn& turn, MPI_Request request, bool valid,
             std::shared_ptr<const void> arguments);

  /// The program has made a persistent request. Returns why it stays native, where Wherry cannot move it.
  std::string_view made(MPI_Request request, Elements elements, const MessageKind& kind,
                        const PersistentArguments& made_with);
  bool has_persistent() const { return persistent_count_.load(std::memory_order_relaxed) != 0; }
  /// A call that starts persistent requests by others in their places.
  class StartCall;

  /// The messages behind the requests of one completing call, while it is under way.
  class Completion;

  /// The program frees the request: what it still stands for is kept until it is over. Whether the library should not
  /// be told.
  bool abandon(MPI_Request request);
  bool has_abandoned() const { return abandoned_count_.load(std::memory_order_relaxed) != 0; }
  void finish_abandoned();
  /// MPI is about to end.
  void end();

 private:
  struct Persistent {
    std::shared_ptr<const Elements> elements;
    MessageDirection direction;
    MPI_Request as_bytes;
    std::uint64_t key;
  };
  using Table = std::unordered_multimap<std::uint64_t, Pending>;
  using Node = Table::node_type;

  template <class Transfer>
  void decide(std::uint64_t key, std::uint64_t place, bool receives, Transfer& transfer,
              Exchange::Turn& turn);
  Exchange::Turn join(std::uint64_t key);
  std::uint64_t entered_ns() const;
  void follow(Pending pending, const Exchange::Turn& turn, std::uint64_t begun_ns);
  void put(MPI_Request request, Pending pending) { put(node_of(request, std::move(pending))); }
  void put(Node node);
  Node take(MPI_Request request);
  static Node node_of(MPI_Request request, Pending pending);
  bool may_have(MPI_Request request) const {
    return followed_[place_of(number_of(request))].load(std::memory_order_relaxed) != 0;
  }
  static std::size_t place_of(std::uint64_t key) { return hashed(key) % most_places; }
  void update();
  void deliver(const Pending& pending, const MPI_Status& status) const;
  void release(Pending& pending);
  void drop(std::unordered_map<std::uint64_t, Persistent>::iterator persistent, bool is_active);

  NativeMessages native_;
  Converter& converter_;
  const mpi::Api& api_;
  std::mutex mutex_;
  Exchange exchange_;
  Table pending_;          // by the program's request; libraries use one for several sends that are over
  Offset held_bytes_ = 0;  // packed, of messages under way
  std::unordered_map<std::uint64_t, Persistent> persistent_;  // by the program's request
  std::vector<Pending> abandoned_;
  bool abandons_receives_ = false;
  static constexpr std::size_t most_places = 256;
  std::array<std::atomic<std::uint16_t>, most_places> followed_{};  // messages in the table, by place_of()
  std::atomic<bool> is_timed_ = false;                              // the exchange that is open
  std::atomic<std::size_t> busy_ = 0, persistent_count_ = 0;
  std::atomic<std::size_t>& abandoned_count_;
};

/// Takes the messages out of the table, since a request that is over may come again at once in another thread, and puts
/// the native requests into the program's array. What is not done goes back.
class PendingMessages::Completion {
 public:
  Completion(PendingMessages& messages, std::span<MPI_Request> requests);
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion();

  bool is_empty() const { return taken_.empty(); }
  bool receives() const;
  /// The call has returned. of(i): what it says of request i, done or not, and its status unless that failed.
  struct Report {
    bool done = false;
    const MPI_Status* status = nullptr;
  };
  template <class Of>
  void ended(const Of& of) {
    restore();
    for (Taken& taken : taken_) {
      const Report report = of(taken.index);
      const bool persistent = taken.pending().is_persistent;
      taken.done = persistent ? report.done : requests_[taken.index] == MPI_REQUEST_NULL;
      if (taken.done && report.status != nullptr) messages_.deliver(taken.pending(), *report.status);
    }
  }
  /// The same of a call that frees no request.
  template <class Of>
  void looked(const Of& of) {
    restore();
    for (Taken& taken : taken_) {
      const Report report = of(taken.index);
      if (!report.done) continue;
      if (report.status != nullptr) messages_.deliver(taken.pending(), *report.status);
      taken.pending().is_delivered = true;
      taken.done = !taken.pending().is_persistent;  // that one still has to be completed in its place
    }
  }

 private:
  struct Taken {
    std::size_t index;
    MPI_Request request;  // the program's
    Node node;
    bool done = false;

    Pending& pending() { return node.mapped(); }
    const Pending& pending() const { return node.mapped(); }
  };
  void restore();

  PendingMessages& messages_;
  std::span<MPI_Request> requests_;
  std::vector<Taken> taken_;
  bool is_timed_ = false;
  std::uint64_t begun_ns_ = 0;
};

/// While the library starts requests.
class PendingMessages::StartCall {
 public:
  StartCall(PendingMessages& messages, std::uint32_t function, const void* site,
            std::span<MPI_Request> requests, CopyResult& result);
  StartCall(const StartCall&) = delete;
  StartCall& operator=(const StartCall&) = delete;
  void ended(bool succeeded);

 private:
  struct Active {
    std::size_t index;
    MPI_Request request;  // the program's
    Pending pending;
  };
  void start(std::size_t index, Persistent& known, const Exchange::Turn& turn);

  PendingMessages& messages_;
  std::span<MPI_Request> requests_;
  CopyResult& result_;
  std::vector<Active> active_;
  bool is_timed_ = false;
  std::uint64_t begun_ns_ = 0;
};

}  // namespace wherry::p2p
