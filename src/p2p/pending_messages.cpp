#include "p2p/pending_messages.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace wherry::p2p {

void PendingMessages::update() {
  busy_ = pending_.size() + (exchange_.is_open() ? 1 : 0);
  is_timed_ = exchange_.is_timed();
  native_.allow(is_idle() && !has_abandoned());
}

/// A message begins.
Exchange::Turn PendingMessages::join(std::uint64_t key) {
  Exchange::Turn turn;
  turn.is_native = native_.is_open();
  if (turn.is_native) return turn;
  turn = exchange_.join(key);
  if (turn.is_native) native_.open();
  return turn;
}

/// And takes over what it can.
template <class Transfer>
void PendingMessages::decide(std::uint64_t key, std::uint64_t place, bool receives, Transfer& transfer,
                             Exchange::Turn& turn) {
  {
    const std::lock_guard lock(mutex_);
    turn = join(key);
    if (turn.is_native && place != 0) native_.put(place, [this] { return exchange_.pass(); });
    transfer.found = turn.found;
    const bool has_room = held_bytes_ + transfer.bytes() <= converter_.most_bytes();
    if (turn.is_ours && (!has_room || (receives && abandons_receives_))) turn.is_ours = false;
    if (turn.is_ours) held_bytes_ += transfer.bytes();
    update();
  }
  if (turn.is_timed && (!turn.is_ours || transfer.begun_ns == 0)) transfer.begun_ns = now_ns();
  if (!turn.is_ours) return;
  const Offset wanted = transfer.bytes();
  transfer.take(converter_);
  if (transfer.bytes() == wanted) return;
  const std::lock_guard lock(mutex_);
  held_bytes_ -= wanted - transfer.bytes();
}

/// What following costs is in the time of the kernels alone: native messages are not followed.
std::uint64_t PendingMessages::entered_ns() const {
  return is_idle() || is_timed_.load(std::memory_order_relaxed) ? now_ns() : 0;
}

void PendingMessages::begin(const MessageKind& kind, std::uint64_t place, MessageTransfer& transfer,
                            Exchange::Turn& turn) {
  transfer.begun_ns = entered_ns();
  transfer.examine(converter_, kind);
  if (transfer.bytes() != 0) decide(transfer.key(kind), place, transfer.received.bytes != 0, transfer, turn);
}

void PendingMessages::begin(const MessageKind& kind, std::uint64_t place, BlockTransfer& transfer,
                            Exchange::Turn& turn) {
  transfer.begun_ns = entered_ns();
  const std::uint64_t key = transfer.examine(kind, converter_);
  if (transfer.bytes() != 0) decide(key, place, false, transfer, turn);
}

void PendingMessages::begun(MessageTransfer& transfer, const Exchange::Turn& turn, MPI_Request request,
                            bool valid) {
  for (const Elements* elements : {&transfer.sent, &transfer.received})
    if (valid && elements->unknown) converter_.note(*elements);
  if (!turn.is_followed) return;
  Pending pending;
  pending.direction = transfer.received.bytes != 0 ? MessageDirection::in : MessageDirection::out;
  Elements& taken = pending.direction == MessageDirection::in ? transfer.received : transfer.sent;
  if (taken.is_taken()) {
    // The transfer still tells how much was moved, and by whom.
    auto kept = std::make_shared<Elements>(std::move(taken));
    taken = {};
    taken.bytes = kept->bytes;
    pending.elements = std::move(kept);
  }
  pending.request = request;
  follow(std::move(pending), turn, transfer.begun_ns);
}

void PendingMessages::begun(BlockTransfer& transfer, const Exchange::Turn& turn, MPI_Request request,
                            bool valid, std::shared_ptr<const void> arguments) {
  if (valid) transfer.note(converter_);
  if (!turn.is_followed) return;
  Pending pending;
  pending.request = request;
  if (transfer.copier == Copier::kernels) pending.blocks = transfer.keep(std::move(arguments));
  follow(std::move(pending), turn, transfer.begun_ns);
}

void PendingMessages::follow(Pending pending, const Exchange::Turn& turn, std::uint64_t begun_ns) {
  const MPI_Request request = pending.request;
  std::uint64_t ns = turn.is_timed ? now_ns() - begun_ns : 0;
  const std::lock_guard lock(mutex_);
  const bool failed = request == MPI_REQUEST_NULL;
  if (failed) release(pending);
  else put(request, std::move(pending));
  if (turn.is_timed && turn.is_ours) ns = now_ns() - begun_ns;
  exchange_.left(failed ? 1 : 0, ns);
  update();
}

/// The memory of a message that is over.
void PendingMessages::release(Pending& pending) {
  if (pending.elements != nullptr && !pending.is_persistent) held_bytes_ -= pending.elements->bytes;
  if (pending.blocks != nullptr) held_bytes_ -= pending.blocks->bytes;
  pending.elements = nullptr;
  pending.blocks = nullptr;
}

PendingMessages::Node PendingMessages::node_of(MPI_Request request, Pending pending) {
  Table one;
  return one.extract(one.emplace(number_of(request), std::move(pending)));
}

void PendingMessages::put(Node node) {
  followed_[place_of(node.key())].fetch_add(1, std::memory_order_relaxed);
  pending_.insert(std::move(node));
}

PendingMessages::Node PendingMessages::take(MPI_Request request) {
  const auto at = request == MPI_REQUEST_NULL ? pending_.end() : pending_.find(number_of(request));
  if (at == pending_.end()) return {};
  followed_[place_of(at->first)].fetch_sub(1, std::memory_order_relaxed);
  return pending_.extract(at);
}

void PendingMessages::deliver(const Pending& pending, const MPI_Status& status) const {
  if (!pending.is_received()) return;
  if (pending.blocks != nullptr) pending.blocks->unpack();  // its status says nothing
  else pending.elements->unpack(arrived_bytes(api_, status));
}

// --- completing calls

PendingMessages::Completion::Completion(PendingMessages& messages, std::span<MPI_Request> requests)
    : messages_(messages), requests_(requests) {
  const std::uint64_t entered_ns = messages.is_timed_.load(std::memory_order_relaxed) ? now_ns() : 0;
  const std::lock_guard lock(messages.mutex_);
  is_timed_ = messages.exchange_.is_timed();
  for (std::size_t i = 0; i < requests.size() && !messages.pending_.empty(); ++i) {
    Node found = messages.take(requests[i]);
    if (found.empty()) continue;
    Taken& taken = taken_.emplace_back(Taken{i, requests[i], std::move(found)});
    requests[i] = taken.pending().request;
  }
  messages.update();
  if (is_timed_ && !taken_.empty())
    begun_ns_ = messages.exchange_.is_ours() && entered_ns != 0 ? entered_ns : now_ns();
}

bool PendingMessages::Completion::receives() const {
  return std::ranges::any_of(taken_, [](const Taken& taken) { return taken.pending().is_received(); });
}

/// A persistent request stays what the program knows.
void PendingMessages::Completion::restore() {
  for (const Taken& taken : taken_)
    if (taken.pending().is_persistent) requests_[taken.index] = taken.request;
}

PendingMessages::Completion::~Completion() {
  if (taken_.empty()) return;
  std::uint64_t ns = is_timed_ ? now_ns() - begun_ns_ : 0;
  const std::lock_guard lock(messages_.mutex_);
  std::size_t done = 0;
  for (Taken& taken : taken_) {
    if (taken.done) {
      ++done;
      messages_.release(taken.pending());
    } else {
      messages_.put(std::move(taken.node));
    }
  }
  if (is_timed_ && messages_.exchange_.is_ours()) ns = now_ns() - begun_ns_;
  messages_.exchange_.left(done, ns);
  messages_.update();
}

// --- persistent messages

/// A persistent request is used again and again: its type is worth knowing at once.
std::string_view PendingMessages::made(MPI_Request request, Elements elements, const MessageKind& kind,
                                       const PersistentArguments& made_with) {
  std::string_view fallback = converter_.examine(elements, kind);
  for (int i = 0; i < 2 && elements.unknown; ++i) {
    converter_.note(elements);
    fallback = converter_.examine(elements, kind);
  }
  if (elements.bytes == 0) return fallback;
  fallback = converter_.take(elements);
  if (!elements.is_taken()) return fallback;
  if (elements.bytes > std::numeric_limits<int>::max()) return "the persistent message is larger than 2 GiB";
  {
    const std::lock_guard lock(mutex_);
    if (held_bytes_ + elements.bytes > converter_.most_bytes())
      return "the messages under way are larger than WHERRY_STAGING_MAX";
    held_bytes_ += elements.bytes;
  }
  auto kept = std::make_shared<const Elements>(std::move(elements));
  const MessageDirection direction =
      made_with.make_send == nullptr ? MessageDirection::in : MessageDirection::out;
  MPI_Request as_bytes = MPI_REQUEST_NULL;
  const auto bytes = static_cast<int>(kept->bytes);
  const auto& [make_send, peer, tag, comm] = made_with;
  if (direction == MessageDirection::in)
    api_.Recv_init(kept->packed.get(), bytes, MPI_BYTE, peer, tag, comm, &as_bytes);
  else make_send(kept->packed.get(), bytes, MPI_BYTE, peer, tag, comm, &as_bytes);
  const std::uint64_t key = hashed(kept->signature ^ static_cast<std::uint32_t>(peer));
  const std::lock_guard lock(mutex_);
  if (as_bytes == MPI_REQUEST_NULL) held_bytes_ -= bytes;
  else persistent_[number_of(request)] = {std::move(kept), direction, as_bytes, key};
  persistent_count_ = persistent_.size();
  return {};
}

/// A persistent request that stays native for good; active as bytes: what is under way has its own share of it.
void PendingMessages::drop(std::unordered_map<std::uint64_t, Persistent>::iterator persistent,
                           bool is_active) {
  held_bytes_ -= persistent->second.elements->bytes;
  if (!is_active) api_.Request_free(&persistent->second.as_bytes);
  persistent_.erase(persistent);
  persistent_count_ = persistent_.size();
}

PendingMessages::StartCall::StartCall(PendingMessages& messages, std::uint32_t function, const void* site,
                                      std::span<MPI_Request> requests, CopyResult& result)
    : messages_(messages), requests_(requests), result_(result) {
  const std::lock_guard lock(messages.mutex_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto at = messages.persistent_.find(number_of(requests[i]));
    if (at == messages.persistent_.end()) continue;
    const Exchange::Turn turn = messages.join(hashed(hashed(number_of(site) ^ function) ^ at->second.key));
    result.bytes += at->second.elements->bytes;
    if (turn.found) result.found = turn.found;
    if (turn.is_followed) start(i, at->second, turn);
    else if (turn.is_native) messages.drop(at, false);  // it is not active: it is about to start
  }
  messages.update();
}

void PendingMessages::StartCall::start(std::size_t index, Persistent& known, const Exchange::Turn& turn) {
  is_timed_ = turn.is_timed;
  if (is_timed_ && begun_ns_ == 0) begun_ns_ = now_ns();
  Active& active = active_.emplace_back(Active{index, requests_[index], {}});
  active.pending = {nullptr, nullptr, known.direction, requests_[index], true};
  if (!turn.is_ours) return;
  result_.copier = Copier::kernels;
  active.pending.elements = known.elements;
  active.pending.request = requests_[index] = known.as_bytes;
  if (known.direction == MessageDirection::out) known.elements->pack();
}

void PendingMessages::StartCall::ended(bool succeeded) {
  for (const Active& active : active_) requests_[active.index] = active.request;
  if (active_.empty()) return;
  const std::uint64_t ns = is_timed_ ? now_ns() - begun_ns_ : 0;
  const std::lock_guard lock(messages_.mutex_);
  for (Active& active : active_)
    if (succeeded) messages_.put(active.request, std::move(active.pending));
  messages_.exchange_.left(succeeded ? 0 : active_.size(), ns);
  messages_.update();
}

// --- requests that the program gives up

/// A message that the program has abandoned may go on, and needs its memory. Of a receive nobody can tell when it is
/// over, so a program that abandons one gets no more of them.
bool PendingMessages::abandon(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  Node found = take(request);
  const auto persistent = persistent_.find(number_of(request));
  const bool is_active = !found.empty() && found.mapped().is_taken();
  if (!found.empty()) exchange_.left(1, 0);
  if (persistent != persistent_.end()) drop(persistent, is_active);
  update();
  if (!is_active) return false;
  abandons_receives_ = abandons_receives_ || found.mapped().is_received();
  const bool library_knows = found.mapped().is_persistent;
  abandoned_.push_back(std::move(found.mapped()));
  ++abandoned_count_;
  update();
  return !library_knows;
}

/// Without the lock, for the library may call the program, whose functions complete messages.
void PendingMessages::finish_abandoned() {
  std::vector<Pending> looked_at;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    looked_at.swap(abandoned_);
  }
  std::vector<Pending> over;
  for (Pending& pending : looked_at) {
    MPI_Status status;
    int done = 0;
    const int code = pending.is_persistent ? api_.Request_get_status(pending.request, &done, &status)
                                           : api_.Test(&pending.request, &done, &status);
    if (code == MPI_SUCCESS && done == 0) continue;
    if (code == MPI_SUCCESS) deliver(pending, status);
    if (pending.request != MPI_REQUEST_NULL) api_.Request_free(&pending.request);
    over.push_back(std::move(pending));
    pending = {};
  }
  const std::lock_guard lock(mutex_);
  for (Pending& pending : over) release(pending);
  for (Pending& pending : looked_at)
    if (pending.is_taken()) abandoned_.push_back(std::move(pending));
  abandoned_count_ -= over.size();
  update();
}

/// What goes on until the library ends keeps its memory.
void PendingMessages::end() {
  const std::lock_guard lock(mutex_);
  for (Pending& pending : abandoned_) {
    api_.Request_free(&pending.request);
    static_cast<void>(new Pending(std::move(pending)));
  }
  abandoned_.clear();
  abandoned_count_ = 0;
}

}  // namespace wherry::p2p
