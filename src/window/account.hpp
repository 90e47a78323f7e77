// Whether remembering what is read from one target is worth its price, by what has become of the gets so far.
//
// A hit saves a plain get, whose time is measured now and then; a miss costs what looking it up and keeping it takes.
// Over a network a plain get takes so long that nothing has to be decided. In shared memory it takes about as long as
// a miss costs: there gets that are rarely repeated go to the library for a while, and then the cache has another try.
#pragma once

#include <algorithm>
#include <cstdint>

#include "window/typical_time.hpp"

namespace wherry::window {

class Account {
 public:
  /// A get: whether it should ask the cache.
  bool asks_cache() {
    if (left_ == 0) [[likely]]
      return true;
    --left_;
    return false;
  }
  void hit() { ++hits_; }
  void missed() { ++misses_; }

  /// Whether this plain get should be timed, and its time given to timed().
  bool wants_time() { return plain_.is_due(); }
  void timed(double plain_s) { plain_.add(plain_s); }
  /// What a plain get takes, with its completion; 0 if that is not known.
  double plain_s() const { return plain_.seconds(); }

  /// When it is time: decides whether the next gets ask the cache.
  void settle() {
    if (hits_ + misses_ < trial) return;
    const double gain = saved_here() - misses_ * miss_s;
    const bool loses = plain_s() > 0 && plain_s() < cheap_s && gain < 0;
    if (loses) left_ = pause_;
    pause_ = loses ? std::min(2 * pause_, most_pause) : least_pause;
    saved_s_ += saved_here();
    hits_ = misses_ = 0;
  }

  /// What hits have saved, as far as the time of a plain get is known.
  double saved_s() const { return saved_s_ + saved_here(); }

 private:
  static constexpr std::uint32_t trial = 1024;  // gets, between decisions
  static constexpr std::uint32_t least_pause = 8 * trial, most_pause = 1024 * trial;
  // What a hit takes and what a miss adds to a plain get, roughly, and less than they do on most machines.
  static constexpr double hit_s = 30e-9, miss_s = 100e-9;
  static constexpr double cheap_s =
      20 * miss_s;  // a get that takes longer is worth a try at any ratio of hits

  double saved_here() const { return plain_s() > hit_s ? hits_ * (plain_s() - hit_s) : 0; }

  std::uint32_t hits_ = 0, misses_ = 0;
  std::uint32_t left_ = 0;  // gets that do not ask
  std::uint32_t pause_ = least_pause;
  TypicalTime plain_;
  double saved_s_ = 0;
};

}  // namespace wherry::window
