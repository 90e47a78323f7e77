#include "schedule/blocks/block_verify.hpp"

#include <algorithm>
#include <string>

#include "schedule/arithmetic.hpp"
#include "schedule/pairing.hpp"

namespace wherry::schedule {
namespace {

std::string name(Block b) {
  return "block (" + std::to_string(b.origin) + "->" + std::to_string(b.destination) + ")";
}

std::string place(int rank, int phase) {
  return "rank " + std::to_string(rank) + " phase " + std::to_string(phase);
}

// ---- Placement: indices in range, peers that exist, slots where the contract of schedule.hpp wants them.

class FormCheck {
 public:
  FormCheck(const Schedule& s, int size, int rank) : s_(s) {
    if (s.size != size || s.rank != rank)
      fail("is the schedule of rank " + std::to_string(s.rank) + " of " + std::to_string(s.size));
    int sends = 0, receives = 0;
    for (phase_ = 0; phase_ < static_cast<int>(s.phases.size()); ++phase_) {
      const Phase& phase = at(s.phases, phase_);
      check_phase(phase, sends, receives);
      for (const Message& m : s.sends_of(phase)) check_message(m, Side::send);
      for (const Message& m : s.receives_of(phase)) check_message(m, Side::receive);
      sends += phase.sends;
      receives += phase.receives;
    }
    if (sends != static_cast<int>(s.sends.size()) || receives != static_cast<int>(s.receives.size()))
      fail("has messages that belong to no phase");
  }

 private:
  enum class Side { send, receive };

  [[noreturn]] void fail(const std::string& what) const {
    throw schedule_error(place(s_.rank, phase_) + " " + what);
  }

  void check_phase(const Phase& p, int sends, int receives) const {
    const bool in_range = p.first_send == sends && p.sends >= 0 && p.first_receive == receives &&
                          p.receives >= 0 && p.first_send + p.sends <= static_cast<int>(s_.sends.size()) &&
                          p.first_receive + p.receives <= static_cast<int>(s_.receives.size());
    if (!in_range) fail("names messages out of order or out of range");
    if (p.sends + p.receives == 0) fail("is empty");
    if (p.window < 0) fail("has a negative window");
  }

  void check_message(const Message& m, Side side) const {
    if (m.peer < 0 || m.peer >= s_.size || m.peer == s_.rank)
      fail("has a message with rank " + std::to_string(m.peer));
    if (m.count < 1 || m.first < 0 || m.first + m.count > static_cast<int>(s_.items.size()))
      fail("has a message whose items are out of range");
    if (m.count == 1 ? m.slot != at_home : m.slot < 0 || m.slot + m.count > s_.slots)
      fail("has a message of " + std::to_string(m.count) + " blocks at slot " + std::to_string(m.slot) +
           " of " + std::to_string(s_.slots));
    for (int i = 0; i < m.count; ++i) check_item(m, i, side);
  }

  void check_item(const Message& m, int i, Side side) const {
    const auto [block, slot] = at(s_.items, m.first + i);
    const auto rank_exists = [&](int r) { return r >= 0 && r < s_.size; };
    if (!rank_exists(block.origin) || !rank_exists(block.destination) || block.origin == block.destination)
      fail("moves " + name(block) + ", which does not exist");
    if (slot < at_home || slot >= s_.slots) fail("keeps " + name(block) + " in slot " + std::to_string(slot));
    if (side == Side::send) return;
    if (m.count > 1 && slot != m.slot + i)
      fail("receives " + name(block) + " out of its place in the message");
    const bool for_me = block.destination == s_.rank;
    if (slot == at_home && !for_me) fail("receives " + name(block) + ", which is not for it, at home");
    if (slot != at_home && for_me && m.count == 1)
      fail("receives " + name(block) + " alone, but not in its place");
  }

  const Schedule& s_;
  int phase_ = 0;
};

// ---- Pairs: both ends of a message name the same blocks in the same order.

void check_pair(std::span<const Schedule> schedules, const Pair& pair) {
  const auto items = [&](const End& end, const std::vector<Message>& messages) {
    return at(schedules, end.rank).items_of(at(messages, end.message));
  };
  const auto sent = items(pair.send, at(schedules, pair.send.rank).sends);
  const auto received = items(pair.receive, at(schedules, pair.receive.rank).receives);
  const std::string both =
      place(pair.send.rank, pair.send.phase) + " sends to " + place(pair.receive.rank, pair.receive.phase);
  if (sent.size() != received.size())
    throw schedule_error(both + " " + std::to_string(sent.size()) + " blocks, of which it expects " +
                         std::to_string(received.size()));
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (sent[i].block != received[i].block)
      throw schedule_error(both + " " + name(sent[i].block) + " where it expects " + name(received[i].block));
}

// ---- Data: what one rank holds, phase by phase. Since pairs agree, ranks can be checked one by one.

class DataCheck {
 public:
  DataCheck(const Schedule& s, const std::function<bool(Block)>& is_due)
      : s_(s),
        is_due_(is_due),
        slots_(static_cast<std::size_t>(s.slots), nobody),
        claimed_(slots_.size(), -1),
        sent_(static_cast<std::size_t>(s.size), 0),
        arrived_(sent_) {
    for (phase_ = 0; phase_ < static_cast<int>(s.phases.size()); ++phase_) run(at(s.phases, phase_));
    check_end();
  }

 private:
  static constexpr Block nobody{-1, -1};

  [[noreturn]] void fail(const std::string& what) const {
    throw schedule_error(place(s_.rank, phase_) + " " + what);
  }

  /// Everything in a phase may happen at once: slots that hold data or belong to another message are taboo.
  void run(const Phase& phase) {
    for (const Message& m : s_.receives_of(phase)) claim_landing(m);
    for (const Message& m : s_.sends_of(phase)) claim_gathering(m);
    for (const Message& m : s_.sends_of(phase)) remove(m);
    for (const Message& m : s_.receives_of(phase)) store(m);
  }

  void claim(int slot, Block b) {
    if (at(slots_, slot) != nobody)
      fail("puts " + name(b) + " into slot " + std::to_string(slot) + ", where " + name(at(slots_, slot)) +
           " still waits");
    claim_for_phase(slot, b);
  }

  void claim_for_phase(int slot, Block b) {
    if (at(claimed_, slot) == phase_)
      fail("uses slot " + std::to_string(slot) + " of " + name(b) + " for two messages");
    at(claimed_, slot) = phase_;
  }

  void claim_landing(const Message& m) {
    for (const Item& item : s_.items_of(m))
      if (item.slot != at_home) claim(item.slot, item.block);
  }

  void claim_gathering(const Message& m) {
    int target = m.slot;
    for (const Item& item : s_.items_of(m)) {
      check_held(item);
      if (m.slot == at_home) continue;
      if (item.slot == target) claim_for_phase(target, item.block);
      else claim(target, item.block);
      ++target;
    }
  }

  void check_held(const Item& item) const {
    const Block b = item.block;
    const bool held =
        item.slot == at_home ? b.origin == s_.rank && !at(sent_, b.destination) : at(slots_, item.slot) == b;
    if (!held) fail("sends " + name(b) + ", which it does not hold" + where(item.slot));
  }

  static std::string where(int slot) {
    return slot == at_home ? " at home" : " in slot " + std::to_string(slot);
  }

  /// A second message of the phase with the same block finds it gone.
  void remove(const Message& m) {
    for (const Item& item : s_.items_of(m)) {
      check_held(item);
      if (item.slot == at_home) at(sent_, item.block.destination) = 1;
      else at(slots_, item.slot) = nobody;
    }
  }

  void store(const Message& m) {
    for (const Item& item : s_.items_of(m)) {
      if (item.block.destination != s_.rank) at(slots_, item.slot) = item.block;
      else if (at(arrived_, item.block.origin)) fail("receives " + name(item.block) + " a second time");
      else at(arrived_, item.block.origin) = 1;
    }
  }

  void check_end() const {
    const std::string rank = "rank " + std::to_string(s_.rank);
    for (int peer = 0; peer < s_.size; ++peer) {
      if (peer == s_.rank) continue;
      check_moved({s_.rank, peer}, at(sent_, peer), rank + " never sends ");
      check_moved({peer, s_.rank}, at(arrived_, peer), rank + " never receives ");
    }
    for (const Block& b : slots_)
      if (b != nobody) throw schedule_error(rank + " keeps " + name(b) + " and never sends it on");
  }

  void check_moved(const Block& b, char moved, const std::string& missing) const {
    const bool due = is_due_(b);
    if (due && !moved) throw schedule_error(missing + name(b));
    if (!due && moved) throw schedule_error(name(b) + " is moved, but nobody asked for it");
  }

  const Schedule& s_;
  const std::function<bool(Block)>& is_due_;
  int phase_ = 0;
  std::vector<Block> slots_;   // what waits in each slot at the start of the phase
  std::vector<int> claimed_;   // the last phase in which a message used the slot
  std::vector<char> sent_;     // by destination: my blocks
  std::vector<char> arrived_;  // by origin: blocks for me
};

// ---- Progress: run all ranks in step until nothing moves.

class ProgressCheck {
 public:
  ProgressCheck(std::span<const Schedule> schedules, std::span<const Pair> pairs) : schedules_(schedules) {
    for (const Schedule& s : schedules)
      ranks_.push_back(
          {.sends = std::vector<Op>(s.sends.size()), .receives = std::vector<Op>(s.receives.size())});
    for (const Pair& p : pairs) {
      at(at(ranks_, p.send.rank).sends, p.send.message).other = p.receive;
      at(at(ranks_, p.receive.rank).receives, p.receive.message).other = p.send;
    }
    for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const int rank = ready_.back();
      ready_.pop_back();
      advance(rank);
    }
    check_all_done();
  }

 private:
  struct Op {
    End other{};
    bool posted = false;
    bool complete = false;
  };

  struct Rank {
    std::vector<Op> sends;
    std::vector<Op> receives;
    int phase = 0;
    int posted = 0;    // positions of the phase: those before are posted,
    int complete = 0;  // those before are complete
  };

  using Ops = std::vector<Op> Rank::*;

  static int positions(const Phase& p) { return std::max(p.sends, p.receives); }

  void advance(int rank) {
    const Schedule& s = at(schedules_, rank);
    Rank& r = at(ranks_, rank);
    for (; r.phase < static_cast<int>(s.phases.size()); ++r.phase, r.posted = r.complete = 0) {
      const Phase& phase = at(s.phases, r.phase);
      do {
        while (r.complete < r.posted && position_complete(r, phase, r.complete)) ++r.complete;
      } while (post_next(r, phase));
      if (r.complete < positions(phase)) return;
    }
  }

  static bool position_complete(const Rank& r, const Phase& p, int k) {
    return (k >= p.sends || at(r.sends, p.first_send + k).complete) &&
           (k >= p.receives || at(r.receives, p.first_receive + k).complete);
  }

  /// Posts the next position if the window allows it.
  bool post_next(Rank& r, const Phase& p) {
    if (r.posted == positions(p) || (p.window != 0 && r.posted - r.complete >= p.window)) return false;
    const int k = r.posted++;
    if (k < p.receives) post(at(r.receives, p.first_receive + k), &Rank::sends);
    if (k < p.sends) post(at(r.sends, p.first_send + k), &Rank::receives);
    return true;
  }

  void post(Op& mine, Ops others) {
    Rank& peer = at(ranks_, mine.other.rank);
    Op& theirs = at(peer.*others, mine.other.message);
    mine.posted = true;
    if (!theirs.posted) return;
    mine.complete = theirs.complete = true;
    ready_.push_back(mine.other.rank);
  }

  void check_all_done() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Schedule& s = schedules_[rank];
      const Rank& r = ranks_[rank];
      if (r.phase == static_cast<int>(s.phases.size())) continue;
      const Phase& p = at(s.phases, r.phase);
      const bool sends = r.complete < p.sends && !at(r.sends, p.first_send + r.complete).complete;
      const int peer = sends ? at(s.sends, p.first_send + r.complete).peer
                             : at(s.receives, p.first_receive + r.complete).peer;
      throw schedule_error(place(static_cast<int>(rank), r.phase) + " waits for ever " +
                           (sends ? "to send to" : "to receive from") + " rank " + std::to_string(peer));
    }
  }

  std::span<const Schedule> schedules_;
  std::vector<Rank> ranks_;
  std::vector<int> ready_;  // ranks for which something has completed
};

}  // namespace

void verify(std::span<const Schedule> schedules) {
  verify(schedules, [](Block) { return true; });
}

void verify(std::span<const Schedule> schedules, const std::function<bool(Block)>& is_due) {
  const int size = static_cast<int>(schedules.size());
  for (int rank = 0; rank < size; ++rank) FormCheck(at(schedules, rank), size, rank);
  const std::vector<Pair> pairs = pair_messages(schedules);
  for (const Schedule& s : schedules) DataCheck(s, is_due);
  for (const Pair& pair : pairs) check_pair(schedules, pair);
  ProgressCheck(schedules, pairs);
}

std::vector<Schedule> schedules(const Strategy& strategy, const topology::Placement& placement) {
  std::vector<Schedule> all;
  all.reserve(static_cast<std::size_t>(placement.size()));
  for (int rank = 0; rank < placement.size(); ++rank) all.push_back(strategy.schedule(placement, rank));
  return all;
}

}  // namespace wherry::schedule
