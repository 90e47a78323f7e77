// Blocking sends and receives of derived types, which Wherry may pack and unpack itself. Included by the generated
// wrappers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "p2p/messages.hpp"
#include "p2p/native_messages.hpp"

namespace wherry::interpose {

/// The arguments of a wrapper that say what moves. `next` uses the wrapper's own variables: what stands there is what
/// is called with.
template <class Memory, class Count>
struct Moving {
  Memory& memory;
  Count& count;
  MPI_Datatype& type;

  p2p::Elements elements() const {
    p2p::Elements elements;
    elements.memory = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(memory)));
    elements.count = count;
    elements.type = type;
    return elements;
  }
};

/// While it lives, these arguments say bytes.
template <class Memory, class Count>
class AsBytes {
 public:
  AsBytes(const Moving<Memory, Count>& moving, const p2p::Elements& elements)
      : moving_(moving), memory_(moving.memory), count_(moving.count), type_(moving.type) {
    if (!elements.is_taken()) return;
    moving_.memory = elements.packed.get();
    moving_.count = static_cast<Count>(elements.bytes);
    moving_.type = MPI_BYTE;
  }
  AsBytes(const AsBytes&) = delete;
  AsBytes& operator=(const AsBytes&) = delete;
  ~AsBytes() {
    moving_.memory = memory_;
    moving_.count = count_;
    moving_.type = type_;
  }

 private:
  Moving<Memory, Count> moving_;
  const Memory memory_;
  const Count count_;
  const MPI_Datatype type_;
};

/// What a receive has written to its status. MPICH gives MPI_SUCCESS where an error handler of the program's own has
/// seen an error; then the status is as it was.
class Delivery {
 public:
  explicit Delivery(MPI_Status* status) : status_(status), source_(status->MPI_SOURCE) {
    status_->MPI_SOURCE = untouched;
  }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;
  ~Delivery() {
    if (!is_written()) status_->MPI_SOURCE = source_;
  }

  bool is_written() const { return status_->MPI_SOURCE != untouched; }
  /// Bytes to unpack; negative: none.
  p2p::Offset arrived(const p2p::Elements& received) const {
    return received.is_taken() && is_written() ? p2p::arrived_bytes(backend().api(), *status_) : -1;
  }

 private:
  static constexpr int untouched = std::numeric_limits<int>::min();  // no rank, nor one of MPI's constants

  MPI_Status* status_;
  const int source_;
};

/// Open MPI (4.1 and 5.0) writes all of a contiguous message of more than 4 KiB into a receive that has less room; of
/// derived types it does not. A program that is told of the error must find its memory, and Wherry's, as without
/// Wherry.
inline constexpr std::string_view truncation_obstacle =
    "errors return, and Open MPI writes messages of bytes past the end of shorter receives";

/// Why the library must move derived types in a communicator; empty: it need not.
using Obstacle = std::string_view(MPI_Comm comm);

inline std::string_view obstacle_in([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  return p2p::is_fatal(backend().api(), comm) ? std::string_view{} : truncation_obstacle;
#else
  return {};
#endif
}

/// Of a buffered send, whose bytes lie packed in the program's buffer whoever packs them.
inline std::string_view no_obstacle(MPI_Comm /*comm*/) { return {}; }

/// Of the communicator of a message that a matched probe has found. Its receive follows.
inline std::string_view obstacle_of([[maybe_unused]] MPI_Message message) {
#ifdef OPEN_MPI
  return backend().found_messages.take(message) ? truncation_obstacle : std::string_view{};
#else
  return {};
#endif
}

template <class Count>
p2p::MessageKind kind_of(const Call& call, int peer, std::string_view obstacle) {
  return {call.function(), call.site(), peer, std::numeric_limits<Count>::max(), obstacle};
}

/// Of a message, for Messages::pass(); 0 where each is recorded.
inline std::uint64_t place_of(const void* site, int peer, MPI_Datatype type, MPI_Count count) {
  return backend().recording() ? 0 : p2p::place_of(site, peer, number_of(type), count);
}

inline bool is_message(const MPI_Message* message) {
  return message != nullptr && *message != MPI_MESSAGE_NULL && *message != MPI_MESSAGE_NO_PROC;
}

/// MPI_Mprobe and MPI_Improbe; flag: nullptr for the one that waits.
template <class Next>
int find_message([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] const int* flag,
                 [[maybe_unused]] const MPI_Message* message, const Next& next) {
  const int code = next();
#ifdef OPEN_MPI
  const bool found = code == MPI_SUCCESS && (flag == nullptr || *flag != 0) && is_message(message);
  if (found && backend().packing() && !obstacle_in(comm).empty()) backend().found_messages.put(*message);
#endif
  return code;
}

/// obstacle: obstacle_in, or no_obstacle for a buffered send.
template <class Count, class Next>
int send(const Call& call, const Moving<const void*, Count>& sent, int dest, MPI_Comm comm,
         p2p::CopyResult& result, const Next& next, Obstacle* obstacle = obstacle_in) {
  p2p::Messages& messages = backend().messages;
  p2p::Converter& converter = backend().converter;
  if (!backend().packing() || dest == MPI_PROC_NULL || converter.is_native(sent.type, sent.count))
    return next();
  const std::uint64_t place = place_of(call.site(), dest, sent.type, sent.count);
  if (messages.passes(place)) return next();
  p2p::MessageTransfer transfer;
  transfer.sent = sent.elements();
  messages.begin(kind_of<Count>(call, dest, obstacle(comm)), place, transfer);
  const AsBytes bytes(sent, transfer.sent);
  const int code = next();
  const bool succeeded = code == MPI_SUCCESS;
  messages.end(transfer,
               {succeeded, succeeded && transfer.sent.unknown && p2p::tells_errors(backend().api(), comm)});
  result = transfer.result();
  return code;
}

template <class Count, class Next>
int receive_message(const p2p::MessageKind& kind, std::uint64_t place, const Moving<void*, Count>& received,
                    MPI_Status* status, p2p::CopyResult& result, const Next& next,
                    p2p::Arriving arriving = p2p::Arriving::alone) {
  p2p::Messages& messages = backend().messages;
  p2p::MessageTransfer transfer;
  transfer.received = received.elements();
  transfer.arriving = arriving;
  messages.begin(kind, place, transfer);
  const AsBytes bytes(received, transfer.received);
  const Delivery delivery(status);
  const int code = next();
  messages.end(transfer, {code == MPI_SUCCESS, delivery.is_written(), delivery.arrived(transfer.received)});
  result = transfer.result();
  return code;
}

template <class Count, class Next>
int receive(const Call& call, const Moving<void*, Count>& received, int source, MPI_Comm comm,
            MPI_Status* status, p2p::CopyResult& result, const Next& next) {
  if (!backend().packing() || source == MPI_PROC_NULL || status == nullptr ||
      backend().converter.is_native(received.type, received.count))
    return next();
  const std::uint64_t place = place_of(call.site(), source, received.type, received.count);
  if (backend().messages.passes(place)) return next();
  return receive_message(kind_of<Count>(call, source, obstacle_in(comm)), place, received, status, result,
                         next);
}

/// A message that MPI_Mprobe has found; which one it was, does not matter.
template <class Count, class Next>
int receive_matched(const Call& call, const Moving<void*, Count>& received, const MPI_Message* message,
                    MPI_Status* status, p2p::CopyResult& result, const Next& next) {
  if (!backend().packing() || !is_message(message) || status == nullptr) return next();
  const std::string_view obstacle = obstacle_of(*message);
  if (backend().converter.is_native(received.type, received.count)) return next();
  return receive_message(kind_of<Count>(call, MPI_ANY_SOURCE, obstacle), 0, received, status, result, next);
}

/// Both ends of one call; the one with nobody at it is native.
template <class Count, class Next>
int send_and_receive(const Call& call, const Moving<const void*, Count>& sent, int dest,
                     const Moving<void*, Count>& received, int source, MPI_Comm comm, MPI_Status* status,
                     p2p::CopyResult& result, const Next& next) {
  p2p::Messages& messages = backend().messages;
  p2p::Converter& converter = backend().converter;
  const bool sends = dest != MPI_PROC_NULL && !converter.is_native(sent.type, sent.count);
  const bool receives = source != MPI_PROC_NULL && !converter.is_native(received.type, received.count);
  if (!backend().packing() || status == nullptr || (!sends && !receives)) return next();
  const std::uint64_t place = hashed(place_of(call.site(), dest, sent.type, sent.count)) ^
                              place_of(nullptr, source, received.type, received.count);
  if (messages.passes(place)) return next();
  p2p::MessageTransfer transfer;
  if (sends) transfer.sent = sent.elements();
  if (receives) transfer.received = received.elements();
  messages.begin(kind_of<Count>(call, sends ? dest : source, obstacle_in(comm)), place, transfer);
  const AsBytes bytes_sent(sent, transfer.sent);
  const AsBytes bytes_received(received, transfer.received);
  const Delivery delivery(status);
  const int code = next();
  messages.end(transfer, {code == MPI_SUCCESS, delivery.is_written(), delivery.arrived(transfer.received)});
  result = transfer.result();
  return code;
}

/// What arrives takes the place of what is sent, in the packed bytes as in the program's memory.
template <class Count, class Next>
int send_and_replace(const Call& call, const Moving<void*, Count>& replaced, int dest, int source,
                     MPI_Comm comm, MPI_Status* status, p2p::CopyResult& result, const Next& next) {
  if (!backend().packing() || status == nullptr || dest == MPI_PROC_NULL || source == MPI_PROC_NULL ||
      backend().converter.is_native(replaced.type, replaced.count))
    return next();
  const std::uint64_t place =
      hashed(place_of(call.site(), dest, replaced.type, replaced.count)) ^ static_cast<std::uint32_t>(source);
  if (backend().messages.passes(place)) return next();
  return receive_message(kind_of<Count>(call, dest, obstacle_in(comm)), place, replaced, status, result, next,
                         p2p::Arriving::in_place_of_sent);
}

/// Whether nobody wants to know of a blocking message of that type: nothing is recorded, it waits as it does without
/// Wherry, and it is not packed. It is counted then.
template <class Count>
[[gnu::always_inline]] inline bool passes_message(Count count, MPI_Datatype type, int peer) {
  const HotState& hot = backend().hot;
  if (hot.repeated_calls != nullptr || backend().recording() || !hot.leaves_waiting_alone()) return false;
  if (hot.abandoned_messages.load(std::memory_order_relaxed) != 0) return false;
  if (peer != MPI_PROC_NULL && !backend().converter.is_surely_native(type, count)) return false;
  backend().count_wait();
  return true;
}

/// Who moved the data of a call, and what was measured. Needs an account.
void book_copy(const Call& call, const p2p::CopyResult& result);

}  // namespace wherry::interpose
