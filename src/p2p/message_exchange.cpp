#include "p2p/message_exchange.hpp"

namespace wherry::p2p {

Exchange::Turn Exchange::join(std::uint64_t key) {
  Turn turn;
  if (!is_open_) {
    is_open_ = true;
    turn_ = choices_.next(key);
    thread_ = std::this_thread::get_id();
    key_ = key;
    begun_ = 0;
    spent_ns_ = 0;
    if (const auto at = found_.find(key); at != found_.end()) {
      turn.found = at->second;
      found_.erase(at);
    }
    // What goes natively and is not timed needs no following: that it goes on so is known until the program waits.
    is_open_ = turn_.is_ours() || turn_.timed;
    turn.is_native = !is_open_;
    if (!is_open_) return turn;
  }
  if (thread_ != std::this_thread::get_id()) return turn;
  if (begun_ == most_messages) return turn;
  ++begun_;
  ++under_way_;
  turn.is_ours = turn_.is_ours();
  turn.is_timed = turn_.timed;
  turn.is_followed = true;
  return turn;
}

void Exchange::left(std::size_t messages, std::uint64_t ns) {
  spent_ns_ += ns;
  under_way_ -= messages;
  if (under_way_ > 0) return;
  is_open_ = false;
  if (begun_ == most_messages) return;
  if (const std::optional<Found> found = CopierChoices::took(turn_, spent_ns_)) found_[key_] = *found;
}

}  // namespace wherry::p2p
