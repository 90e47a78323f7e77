// Messages under way at the same time, as those of a halo: what one of them gains shows in the calls that complete them
// all. So one choice is made for all, when the first begins, and measured by the time in MPI until the last has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <unordered_map>

#include "p2p/copier_choices.hpp"

namespace wherry::p2p {

/// Not thread-safe, but knows threads: messages that another thread begins meanwhile are native.
class Exchange {
 public:
  explicit Exchange(LayoutLever lever) : choices_(lever, layout::CopyTiming::waiting) {}

  /// How a message is to be moved. followed: it is of the exchange, and left() must tell its end. is_native: the
  /// exchange is native, as is decided until it is measured again; none is open for it.
  struct Turn {
    bool is_ours = false, is_timed = false, is_followed = false, is_native = false;
    std::optional<Found> found;  // lately, of exchanges like this
  };
  /// A message begins. key: of the message, which is that of the exchange if it is the first.
  Turn join(std::uint64_t key);
  /// Of the messages some have ended; what calls have taken for the exchange.
  void left(std::size_t messages, std::uint64_t ns);
  /// After join() has said that a message is native: as many of the next exchanges like it as need not be asked about.
  int pass() { return turn_.choice == nullptr ? 0 : turn_.choice->pass(); }

  bool is_open() const { return is_open_; }
  bool is_timed() const { return is_open_ && turn_.timed; }
  bool is_ours() const { return is_open_ && turn_.is_ours(); }

 private:
  // A program that always has messages under way ends no exchange.
  static constexpr std::size_t most_messages = 4096;

  CopierChoices choices_;
  CopierChoices::Turn turn_;
  std::thread::id thread_;
  bool is_open_ = false;
  std::uint64_t key_ = 0;
  std::size_t begun_ = 0, under_way_ = 0;
  std::uint64_t spent_ns_ = 0;
  std::unordered_map<std::uint64_t, Found> found_;  // not yet told
};

}  // namespace wherry::p2p
