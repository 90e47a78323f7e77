// The blocks of one collective of neighbors whose types differ, as bytes that Wherry's kernels pack and unpack.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "p2p/messages.hpp"

namespace wherry::p2p {

/// A call that either the library or Wherry gives its bytes to. What goes to each neighbor is the same, so the others
/// need not know.
class BlockTransfer {
 public:
  /// Decides, and packs what is sent. Blocks that are not taken stay the library's. place: of the call, for
  /// Messages::pass().
  void begin(const Kind& kind, std::uint64_t place, Messages& messages, Converter& converter);
  /// Unpacks, if the call succeeded: then all has arrived. valid: the library has taken the arguments for right.
  void end(Messages& messages, Converter& converter, bool succeeded, bool valid);

  std::vector<Elements> sent, received;
  Copier copier = Copier::native;
  std::optional<Found> found;
  std::string_view fallback;  // why it was native, where Wherry cannot do it

  Offset bytes() const;
  bool has_unknown() const;

 private:
  template <class Visit>
  void each(Visit&& visit);
  template <class Visit>
  void each(Visit&& visit) const;

  CopierChoices::Turn turn_;
  std::uint64_t begun_ns_ = 0;
};

}  // namespace wherry::p2p
