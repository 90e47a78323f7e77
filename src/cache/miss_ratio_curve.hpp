// Which share of the references would have missed with less memory or more: LRU's miss-ratio curve, estimated
// from a sample of the ranges (SHARDS with a fixed number of samples: Waldspurger, Park, Garthwaite and Ahmad,
// FAST 2015).
//
// A range is in the sample if its hash is below a threshold, which sinks whenever there would be more ranges than
// there is room for. Of those, the distance of a reference is the bytes of all that were referenced since it last
// was, scaled by the share of ranges sampled. It hits in every LRU cache that is larger.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace wherry::cache {

class MissRatioCurve {
 public:
  struct Point {
    std::uint64_t bytes;  // of memory
    double misses;        // of 1 reference
  };

  /// `samples`: ranges that are followed at most; the error is about 1 / sqrt(samples). With 0, none ever is.
  explicit MissRatioCurve(std::size_t samples);

  /// Whether references to the range with this hash are to be noted.
  bool follows(std::uint64_t hash) const { return hash < threshold_; }
  /// A reference to a range that is followed. `bytes`: what it takes in a cache.
  void note(std::uint64_t hash, std::uint64_t bytes);

  /// By ascending memory, four points an octave, as far as references reach. `references`: all there were,
  /// sampled or not; they tell how much of their share the popular ranges in the sample are.
  std::vector<Point> points(std::uint64_t references) const;

 private:
  struct Sampled {
    std::size_t time;  // of the last reference
    std::uint64_t bytes;
  };
  using Ranges = std::map<std::uint64_t, Sampled>;  // by hash: the last one leaves first

  static constexpr int per_octave = 4;
  static std::size_t step_of(std::uint64_t bytes);
  static std::uint64_t bytes_at(std::size_t step);

  double share() const;
  std::size_t next_time();
  void renumber();
  void add(std::size_t time, std::uint64_t bytes);
  std::uint64_t until(std::size_t time) const;
  void count(std::uint64_t distance, std::uint64_t bytes);
  void drop_last();

  std::size_t samples_;
  std::uint64_t threshold_;
  Ranges ranges_;
  std::vector<std::uint64_t> tree_;  // Fenwick's: sums of bytes by time of the last reference
  std::size_t now_ = 0;
  std::uint64_t live_ = 0;                    // bytes of all ranges followed
  std::array<double, 64 * per_octave> at_{};  // references by the memory from which on they hit
  double counted_ = 0;                        // references noted, first ones too
};

}  // namespace wherry::cache
