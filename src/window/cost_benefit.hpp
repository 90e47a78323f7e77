// Whether remembering what is read from one target is worth its price, by what has become of the gets so far.
//
// A hit saves a plain get, whose time is measured now and then; a miss costs what looking it up and keeping it takes.
// Over a network a plain get takes so long that nothing has to be decided. In shared memory it takes about as long as
// a miss costs: there gets that are rarely repeated go to the library for a while, and then the cache has another try.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/floating_point.hpp"
#include "window/typical_time.hpp"

namespace wherry::window {

/// How many times as long a get of so many bytes takes as one of none. Taken to be so everywhere: 8 KiB take as long as the message itself,
/// as with 1 microsecond and 8 GB/s, 10 and 0.8, or 64 and 1 Gbit/s.
inline double times_as_long(double bytes) { return 1 + bytes / 8192; }

/// What a plain get took: its call, and its share of what completed it.
struct PlainTime {
  float call_s = 0, completion_s = 0, share = 1;
  const TypicalTime* idle =
      nullptr;      // what such a completion takes with nothing to complete; nullptr: nothing
  float bytes = 0;  // that came

  /// Of one that brings no bytes, by this one.
  double seconds() const {
    const double more_s = completion_s - (idle == nullptr ? 0 : idle->seconds());
    return (call_s + share * std::max(more_s, 0.0)) / times_as_long(bytes);
  }
};

class Account {
 public:
  /// A get: whether it should ask the cache.
  bool asks_cache() {
    if (left_ == 0) [[likely]]
      return true;
    --left_;
    return false;
  }
  /// One that asked for so many bytes.
  void hit(std::uint64_t bytes) {
    ++hits_;
    hit_bytes_ += bytes;
  }
  void missed(std::uint64_t bytes) {
    ++misses_;
    miss_bytes_ += bytes;
  }

  /// Whether this plain get should be timed, and its time given to timed().
  bool wants_time() { return plain_.is_due(); }
  void timed(const PlainTime& time) { plain_.add(time); }
  /// What a plain get of no bytes takes, with its completion; 0 if that is not known.
  double plain_s() const { return plain_.seconds(); }

  /// When it is time: notes what hits have saved, and decides whether the next gets ask the cache, if it may.
  void settle(bool may_pause) {
    if (hits_ + misses_ < trial) return;
    const OwnArithmetic arithmetic;
    const double plain_s = this->plain_s(), saved_s = saved_by(plain_s);
    const double usual_s = plain_s * times_as_long(mean(hit_bytes_ + miss_bytes_, hits_ + misses_));
    const bool loses = may_pause && plain_s > 0 && usual_s < cheap_s && saved_s < misses_ * miss_s;
    if (loses) left_ = pause_;
    pause_ = loses ? std::min(2 * pause_, most_pause) : least_pause;
    saved_s_ += saved_s;
    hits_ = hit_bytes_ = miss_bytes_ = 0;
    misses_ = 0;
  }

  /// What hits have saved, as far as the time of a plain get is known.
  double saved_s() const { return saved_s_ + saved_by(plain_s()); }

 private:
  static constexpr std::uint32_t trial = 1024;  // gets, between decisions
  static constexpr std::uint32_t least_pause = 8 * trial, most_pause = 1024 * trial;
  // What a hit takes and what a miss adds to a plain get, roughly, and less than they do on most machines.
  static constexpr double hit_s = 30e-9, miss_s = 100e-9;
  static constexpr double cheap_s =
      20 * miss_s;  // a get that takes longer is worth a try at any ratio of hits

  /// By the hits since it last settled.
  double saved_by(double plain_s) const {
    const double each_s = plain_s * times_as_long(mean(hit_bytes_, hits_)) - hit_s;
    return static_cast<double>(hits_) * std::max(each_s, 0.0);
  }
  static double mean(std::uint64_t bytes, std::uint64_t gets) {
    return gets == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(gets);
  }

  std::uint64_t hits_ = 0, hit_bytes_ = 0, miss_bytes_ = 0;
  std::uint32_t misses_ = 0;
  std::uint32_t left_ = 0;  // gets that do not ask
  std::uint32_t pause_ = least_pause;
  LastFew<PlainTime> plain_;
  double saved_s_ = 0;
};

}  // namespace wherry::window
