// The blocks of one collective of neighbors whose types differ, as bytes that Wherry's kernels pack and unpack.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "p2p/messages.hpp"

namespace wherry::p2p {

/// Blocks under way after the call that has begun them, with what the library still reads of its arguments.
struct BlocksUnderWay {
  std::vector<Elements> sent, received;
  std::shared_ptr<const void> arguments;
  Offset bytes = 0;

  /// All that was to come has arrived.
  void unpack() const;
};

/// A call that either the library or Wherry gives its bytes to. What goes to each neighbor is the same, so the others
/// need not know.
class BlockTransfer {
 public:
  /// Decides, and packs what is sent. Blocks that are not taken stay native. place: of the call, for
  /// Messages::pass().
  void begin(const MessageKind& kind, std::uint64_t place, Messages& messages, Converter& converter);
  /// Unpacks, if the call succeeded: then all has arrived. valid: the library has taken the arguments for right.
  void end(Messages& messages, Converter& converter, bool succeeded, bool valid);

  /// The steps of begin(), for a call that does not end the exchange. What calls like this have in common; bytes() says
  /// whether there is something to choose.
  std::uint64_t examine(const MessageKind& kind, Converter& converter);
  /// Takes over what it can, and packs what is sent.
  void take(Converter& converter);
  /// The library has taken the types for right.
  void note(Converter& converter) const;
  /// What has been taken, to be kept until it is over; this still tells how much was moved, and by whom.
  std::shared_ptr<const BlocksUnderWay> keep(std::shared_ptr<const void> arguments);

  std::vector<Elements> sent, received;
  Copier copier = Copier::native;
  std::optional<Found> found;
  std::string_view fallback;  // why it was native, where Wherry cannot do it
  std::uint64_t begun_ns = 0;

  Offset bytes() const;
  bool has_unknown() const;

 private:
  template <class Visit>
  void each(Visit&& visit);
  template <class Visit>
  void each(Visit&& visit) const;

  CopierChoices::Turn turn_;
};

}  // namespace wherry::p2p
