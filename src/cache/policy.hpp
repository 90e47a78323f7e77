// What an entry is worth, and whether another deserves its place.
//
// The worth is heat * score / size. Heat is a count of uses in which each use loses half of its weight in every
// half-life (the combined recency and frequency of D. Lee and others, LRFU, IEEE Trans. Computers 50, 2001);
// score is the application's; the division by size is GreedyDual-Size's (P. Cao and S. Irani, USITS 1997), for
// many small entries serve more hits than one large. Heat outlives the entry in the history, so a range that
// comes back is known (N. Megiddo and D. Modha, ARC, FAST 2003), and what is wanted for the first time does not
// displace what is worth more (G. Einziger and others, TinyLFU, ACM TOS 2017). Victims are the least of a
// random sample (K. Psounis and B. Prabhakar, INFOCOM 2001): no order has to be kept by hits.
//
// Time is the number of references, in ticks of an eighth of the half-life. The half-life is some references
// per entry: with fewer there is little to learn from, with more change goes unnoticed.
// docs/design/0008-rma-cache.md has the comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/floating_point.hpp"
#include "cache/entry.hpp"
#include "cache/history.hpp"

namespace wherry::cache {

class Policy {
 public:
  Policy();

  std::uint32_t tick() const { return tick_; }
  std::uint64_t references() const { return references_ - left_; }

  /// One reference more. Returns whether the tick is over: then call next_tick().
  bool reference() { return --left_ == 0; }
  /// Begins a tick as long as suits this many entries.
  void next_tick(std::size_t entries);

  /// A hit.
  void touch(Entry& entry) const {
    // Within a tick nothing cools down: the common case is one addition.
    if (entry.tick != tick_) [[unlikely]] {
      entry.heat = cooled(entry.heat, entry.tick);
      entry.tick = tick_;
    }
    entry.heat += 1;
  }

  /// What is left of heat that was noted at an earlier tick.
  float cooled(float heat, std::uint32_t since) const {
    const std::uint32_t age = tick_ - since;
    return age < decay_.size() ? heat * decay_[age] : 0.0f;
  }

  /// Heat of a range that is wanted now, from what the history knows of it (nullptr: nothing).
  float heat_of(const History::Row* row) const {
    return 1 + (row != nullptr ? cooled(row->heat, row->tick) : 0.0f);
  }

  /// What an entry of this heat, now, is worth.
  static float worth(float heat, float score, std::size_t footprint) {
    return heat * score / static_cast<float>(footprint);
  }
  float worth(const Entry& entry, std::size_t footprint) const {
    return worth(cooled(entry.heat, entry.tick), entry.score, footprint);
  }
  /// What a range is worth that asks for admission. The use that brings it here counts little: entries are
  /// looked at at any time, but this one at the moment of its use, when it looks hotter than it is.
  static float worth_of_candidate(float heat, float score, std::size_t footprint) {
    return worth(heat - 0.9f, score, footprint);
  }

 private:
  static constexpr std::uint32_t ticks_per_half_life = 8;
  static constexpr std::size_t half_life_per_entry = 16;  // references
  static constexpr std::size_t least_half_life = 1024;

  std::uint32_t tick_ = 1;
  std::uint64_t left_ = 0;        // references until the tick is over
  std::uint64_t references_ = 0;  // up to the end of the tick
  std::array<float, 256> decay_;
};

inline Policy::Policy() {
  const OwnArithmetic arithmetic;
  for (std::size_t age = 0; age < decay_.size(); ++age)
    decay_[age] = std::exp2(-static_cast<float>(age) / static_cast<float>(ticks_per_half_life));
  next_tick(0);
  tick_ = 1;
}

inline void Policy::next_tick(std::size_t entries) {
  ++tick_;
  left_ += std::max(half_life_per_entry * entries, least_half_life) / ticks_per_half_life;
  references_ += left_;
}

}  // namespace wherry::cache
