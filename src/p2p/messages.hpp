// Blocking calls with derived types by bytes that Wherry's kernels pack and unpack, where that is faster.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "p2p/copier_choices.hpp"
#include "p2p/elements.hpp"

namespace wherry::p2p {

/// Who copied the data of derived types in one call, as the record has it.
struct CopyResult {
  Copier copier = Copier::native;
  Offset bytes = 0;  // 0: there was nothing to choose
  std::optional<Found> found;
  std::string_view fallback;  // why it was native, where Wherry cannot do it
};

/// Whether the elements received are first sent themselves.
enum class Arriving : std::uint8_t { alone, in_place_of_sent };

/// One call whose derived types Wherry may convert; `sent` or `received` alone may be in use. Constructed only then: most
/// calls are native at once, and to initialize it takes 15 ns.
struct MessageTransfer {
  Elements sent, received;
  Arriving arriving = Arriving::alone;
  Copier copier = Copier::native;
  std::optional<Found> found;
  std::string_view fallback;  // as in CopyResult

  CopyResult result() const { return {copier, bytes(), found, fallback}; }
  Offset bytes() const { return sent.bytes + received.bytes; }

  // Until the call has ended:
  CopierChoices::Turn turn;
  std::uint64_t begun_ns = 0;

  void examine(Converter& converter, const MessageKind& kind);
  std::uint64_t key(const MessageKind& kind) const {
    return hashed(hashed(kind.hash() ^ sent.signature) ^ received.signature);
  }
  /// Takes over what it can, and packs what is sent.
  void take(Converter& converter);
};

/// What is sent is the data in type map order, as the library would send it: the other side may be anything. So each
/// side decides alone, and the messages match as always. Thread-safe.
class Messages {
 public:
  Messages(LayoutLever lever, Converter& converter)
      : converter_(converter), choices_(lever, layout::CopyTiming::waiting) {}

  /// Decides, and packs what is sent. Then the native call is made: with the bytes of `sent` and `received`,
  /// where there are any, else with the program's own arguments. place: of the message, for pass(); 0: none.
  void begin(const MessageKind& kind, std::uint64_t place, MessageTransfer& transfer);

  /// What the library said. arrived: bytes; negative: nothing. valid: it has taken the arguments for right.
  struct Completion {
    bool succeeded, valid;
    Offset arrived = -1;
  };
  /// Unpacks what has arrived.
  void end(MessageTransfer& transfer, const Completion& completion);

  /// A turn of what has this key in common, and how long it took.
  CopierChoices::Turn next(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    return choices_.next(key);
  }
  /// The next calls at this place are native, as this one is: as many as need not be asked about.
  void pass(const CopierChoices::Turn& turn, std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    if (passed_.has_room(place)) passed_.put(place, turn.choice->pass());
  }
  bool passes(std::uint64_t place) { return passed_.take(place); }
  std::optional<Found> took(const CopierChoices::Turn& turn, std::uint64_t ns) {
    const std::lock_guard lock(mutex_);
    return CopierChoices::took(turn, ns);
  }

 private:
  Converter& converter_;
  std::mutex mutex_;
  CopierChoices choices_;
  PassedCalls passed_;
};

}  // namespace wherry::p2p
