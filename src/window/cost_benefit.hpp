// Whether remembering what is read from one target is worth its price, by what has become of the gets so far.
//
// A hit saves a plain get, whose time is measured now and then; a miss costs what looking it up and keeping it takes.
// Over a network a plain get takes so long that nothing has to be decided. In shared memory it takes about as long as a
// miss costs, or less: there gets that are rarely repeated are native for a while, and then the cache has
// another try. The memory of a cache costs as much as some thousand such gets, so a window is read without one at
// first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/floating_point.hpp"
#include "window/typical_time.hpp"

namespace wherry::window {

/// How many times as long a get of so many bytes takes as one of none. Taken to be so everywhere: 8 KiB take as long as
/// the message itself, as with 1 microsecond and 8 GB/s, 10 and 0.8, or 64 and 1 Gbit/s.
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

/// A get that takes longer is worth a try of the cache at any ratio of hits.
inline constexpr double cheap_s = 2e-6;

/// When a window is to have its cache: as soon as plain gets have taken as long as making one takes. So windows that
/// live for a few gets never have one, and no window loses more than twice what the better of both would have cost.
class CacheDue {
 public:
  /// after_s: what plain gets may take before.
  explicit CacheDue(double after_s) : after_s_(after_s) {}

  /// So many plain gets were made, which take plain_s; 0: that is not known. Of cheap gets only a part counts: there
  /// the cache has little to win.
  void made(std::uint64_t gets, double plain_s) {
    const double each_s = plain_s > 0 ? plain_s : cheap_s;
    plain_s_ += static_cast<double>(gets) * each_s * std::min(1.0, each_s / cheap_s);
  }
  bool is_due() const { return plain_s_ >= after_s_; }

 private:
  double after_s_;
  double plain_s_ = 0;
};

/// Of one target: what its cached gets have cost and saved, and whether the next ones ask the cache.
class CostBenefit {
 public:
  /// A get before there is a cache: whether it is native without more ado.
  bool skips_lookup() {
    if (skips_left_ == 0) [[likely]]
      return false;
    --skips_left_;
    return true;
  }
  /// The next gets do, if they are known to be cheap. Returns how many.
  std::uint32_t skip_lookups() {
    const double plain_s = this->plain_s();
    return skips_left_ = plain_s > 0 && plain_s < cheap_s ? skipped_gets : 0;
  }
  void end_skipping() { skips_left_ = 0; }

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
    if (loses) left_ = pause_ = std::clamp(2 * pause_, pause_for(usual_s), most_pause);
    else pause_ = least_pause / 2;
    saved_s_ += saved_s;
    hits_ = hit_bytes_ = miss_bytes_ = 0;
    misses_ = 0;
  }

  /// What hits have saved, as far as the time of a plain get is known.
  double saved_s() const { return saved_s_ + saved_by(plain_s()); }

 private:
  static constexpr std::uint32_t trial = 1024;  // gets, between decisions
  static constexpr std::uint32_t least_pause = 8 * trial, most_pause = 1024 * trial;
  static constexpr std::uint32_t skipped_gets = 64;
  // What a hit takes and what a miss adds to a plain get, roughly, and less than they do on most machines.
  static constexpr double hit_s = 30e-9, miss_s = 100e-9;
  // What a trial may cost of the time of the gets until the next, if all of it misses and a miss adds three times as
  // much.
  static constexpr double trial_share = 0.02;

  /// Gets until the next trial where a get takes so long.
  static std::uint32_t pause_for(double usual_s) {
    const double gets = trial * 3 * miss_s / (trial_share * usual_s);
    return static_cast<std::uint32_t>(std::clamp(gets, double{least_pause}, double{most_pause}));
  }

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
  std::uint32_t skips_left_ = 0;           // gets before there is a cache
  std::uint32_t left_ = 0;                 // gets that do not ask
  std::uint32_t pause_ = least_pause / 2;  // the last one
  LastFew<PlainTime> plain_;
  double saved_s_ = 0;
};

}  // namespace wherry::window
