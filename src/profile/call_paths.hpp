// Who called the function that calls MPI: a wrapper is not the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profile/python.hpp"
#include "profile/record.hpp"
#include "profile/sites.hpp"

namespace wherry::profile {

/// Which calls from a place are sampled, at random, as callers may take turns: the first, and then about one in 2^k,
/// with k growing with their number. More of them where the calls take long: a sample is to cost a small part of that.
class PathSampling {
 public:
  /// One in so many at least.
  static constexpr std::uint64_t largest_gap = 1024;
  /// Of the calls seen, to the next that is sampled: what one stands for is a small part of all.
  static constexpr std::uint64_t share = 64;

  /// ns_each: in the calls of a place, for each sample.
  explicit PathSampling(std::uint64_t ns_each) : ns_each_(ns_each) {}
  /// Where samples cost more, fewer of short calls are taken.
  void set_cost(std::uint64_t ns_each) { ns_each_ = ns_each; }

  /// Of calls that took so long, of which the last is under way: for how many it stands if it is sampled; else 0.
  /// affordable: else fewer of the next are sampled. Whether one is must not follow from the clock: long calls, at whose
  /// end there is time for a sample again, would be seen more often than they are made.
  std::uint64_t due(std::uint32_t place, std::uint32_t calls, std::uint64_t time_ns, bool affordable = true) {
    if (place >= places_.size()) [[unlikely]]
      places_.resize(place + 1);
    SampledSite& p = places_[place];
    // A long call pays for its own sample, and stands for no others.
    if (calls > 0 && time_ns / calls >= ns_each_) return calls;
    p.waiting += calls;
    p.time_ns += time_ns;
    ++p.seen;
    if (p.left > 0) [[likely]]
      return --p.left, 0;
    return sample(p, affordable);
  }

 private:
  struct SampledSite {
    std::uint64_t seen = 0, time_ns = 0, waiting = 0, left = 0;
  };
  std::uint64_t sample(SampledSite& place, bool affordable);

  std::vector<SampledSite> places_;
  std::uint64_t ns_each_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;
};

/// Time that samples may take before they become rarer: a thousandth of the program's, and some at once. A sample whose
/// code and data the program has driven out of the caches takes ten times as long as one in a loop.
class PathBudget {
 public:
  static constexpr std::uint64_t at_once_ns = 200'000, share = 1000;

  bool allows(std::uint64_t now_ns) {
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    const std::uint64_t since_ns =
        now_ns > begin_ns_ ? now_ns - begin_ns_ : 0;  // a cheap clock may lag behind
    return spent_ns_ <= at_once_ns + since_ns / share;
  }
  void spend(std::uint64_t ns) { spent_ns_ += ns; }

 private:
  std::uint64_t begin_ns_ = 0, spent_ns_ = 0;
};

/// Finds such paths. Not thread-safe.
class CallPaths {
 public:
  explicit CallPaths(Sites& sites) : sites_(sites) {}

  /// Looks for interpreters. Without any lock.
  void find_interpreter();
  /// See PathSampling. now_ns: by the clock of the record.
  std::uint64_t due(std::uint32_t place, std::uint32_t calls, std::uint64_t time_ns, std::uint64_t now_ns) {
    return sampling_.due(place, calls, time_ns, budget_.allows(now_ns));
  }
  void took(std::uint64_t ns) { budget_.spend(ns); }
  /// The callers of the function that holds the place of the call that is under way on this thread, innermost first;
  /// for a script's call, its lines, and what lies between them and the library that holds the place. Until the next
  /// call.
  std::span<const PathFrame> path(std::uint32_t place);

 private:
  static constexpr std::size_t deepest = 24;  // where the interpreter is looked for
  // A sample takes 1.5 us, and one with a script's lines 3: half a percent of the calls.
  static constexpr std::uint64_t ns_each = 400'000, ns_each_of_script = 1'000'000;

  struct Path {
    std::array<PathFrame, path_frames> frames = {};
    std::size_t count = 0;
  };
  /// The path of a script's place: to know it again takes no unwinding. Not for ever: the memory of its code may become
  /// another's.
  struct KnownPath {
    static constexpr int most_uses = 64;
    std::uint64_t where = 0;
    std::uint32_t place = 0;
    int uses = 0;
    Path path;
  };

  void find(std::uint32_t place, Path& path);
  void add_native(Path& path, std::span<const void* const> callers, std::size_t most,
                  std::uint32_t but_module);
  static void add(Path& path, const PathFrame& frame);

  Sites& sites_;
  Python python_;
  PathSampling sampling_{ns_each};
  PathBudget budget_;
  Path path_;
  std::array<KnownPath, 64> known_ = {};
};

}  // namespace wherry::profile
