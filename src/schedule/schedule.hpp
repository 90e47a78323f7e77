// A schedule: what one rank does in a collective, as data.
//
// It names blocks and peers and holds no pointer, size, request or tag, so it can be cached,
// compared, verified, estimated and drawn. A binding adds addresses and sizes when it runs.
#pragma once

#include <span>
#include <vector>

namespace wherry::schedule {

/// The piece of data that rank `origin` has for rank `destination`.
struct Block {
  int origin;
  int destination;
  friend bool operator==(const Block&, const Block&) = default;
};

/// A block inside a message, and where this rank keeps it.
///
/// In a message to send: `slot` is the staging slot in which the block waits, or `at_home` if
/// this rank is its origin (it lies in the caller's send buffer, at index `destination`).
/// In a message to receive: `slot` is where the block lands, or `at_home` if it lands directly in
/// the caller's receive buffer at index `origin` (only in messages of one block, this rank
/// being its destination).
struct Item {
  Block block;
  int slot;
  friend bool operator==(const Item&, const Item&) = default;
};

inline constexpr int at_home = -1;

/// Blocks that travel together to or from one peer, in this order.
///
/// A message of one block is sent from and received at the place of its item, with no copy. A message of
/// several blocks is contiguous in staging slots [slot, slot + items): a sender gathers them there
/// first; a receiver's items have those consecutive slots, and those whose destination
/// is this rank are copied to the receive buffer when the message is complete.
struct Message {
  int peer;
  int first;  // index of the first item in Schedule::items
  int count;  // items, >= 1
  int slot;   // first staging slot of the message, or at_home if count == 1
  friend bool operator==(const Message&, const Message&) = default;
};

/// Messages that may be under way together. Everything in a phase completes before the next starts.
///
/// Phases order the data of one rank, not the ranks: there is no barrier between them.
/// Sends and receives are listed in posting order. At most `window` of each are outstanding (0: all);
/// the strategy guarantees that a send of position k meets a receive of position k at its peer wherever
/// window is not 0, so that a bounded window cannot deadlock.
struct Phase {
  int first_send;  // index into Schedule::sends
  int sends;
  int first_receive;  // index into Schedule::receives
  int receives;
  int window;
  friend bool operator==(const Phase&, const Phase&) = default;
};

/// What rank `rank` of `size` does. The block a rank has for itself is never in a schedule.
///
/// Between two ranks, messages are received in the order in which they are sent.
struct Schedule {
  int size = 0;
  int rank = 0;
  int slots = 0;  // staging slots that this rank needs; slots are reused once their data has left
  std::vector<Phase> phases;
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<Item> items;

  std::span<const Message> sends_of(const Phase& p) const {
    return {sends.data() + p.first_send, static_cast<std::size_t>(p.sends)};
  }
  std::span<const Message> receives_of(const Phase& p) const {
    return {receives.data() + p.first_receive, static_cast<std::size_t>(p.receives)};
  }
  std::span<const Item> items_of(const Message& m) const {
    return {items.data() + m.first, static_cast<std::size_t>(m.count)};
  }
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace wherry::schedule
