// What is missing of a get, and how it is fetched: by the program's own get, by one of the missing parts, or later.
//
// The get at hand is looked up range by range; what is noted here as missing is then fetched at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "window/window_state.hpp"

namespace wherry::window {

class FetchPlan {
 public:
  explicit FetchPlan(WindowState& common) : common_(common) {}

  /// A get begins.
  void clear() { parts_.clear(); }
  /// What the cache has answered for a range that is to be read to there. Whether something of it will be copied when
  /// it has come.
  bool note(cache::Answer answer, const cache::TargetRange& range, std::byte* to);
  /// The same, without what is missing.
  void note_copies(cache::Answer answer, const cache::TargetRange& range, const std::byte* to);
  /// What is missing of the last lookup must be fetched to there, unless the node has it.
  void note_missing(const cache::TargetRange& range, std::byte* to);
  /// What is missing so far.
  std::span<const MissingPart> parts() const { return parts_; }

  /// Whether the program's own get is the best way to fetch what is missing: all of it is, or it is in many parts.
  bool asks_for_all(std::uint64_t bytes) const;
  /// Fetches what is missing of a get of so many bytes, by the program's own if `all`.
  int fetch(int rank, std::uint64_t bytes, const Native& native, bool all);
  /// The common case: all of a get, by the program's own.
  int fetch_absent(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                   const Native& native);
  /// What is missing is fetched by a request: it is not kept.
  void count_request(Target& target, std::uint64_t bytes);

  void report(WindowStatistics& statistics) const { statistics.fetched = fetched_; }

 private:
  bool found_on_node(const MissingPart& part);
  bool waits(cache::Answer answer) const {
    return answer == cache::Answer::pending || (answer == cache::Answer::missing && common_.cache->waits());
  }
  SequenceNumber begin(Target& target, int rank, std::uint64_t bytes);
  void await(Target& target, const MissingPart& part, SequenceNumber sequence, int code);

  WindowState& common_;
  std::vector<MissingPart> parts_;
  std::uint64_t fetched_ = 0;  // gets of which something was missing
};

/// What a completion is to bring and nobody has asked the library for so far: fetches that were held back to be joined
/// with others, and what waits for bytes that come to a place where others write, too.
class HeldFetches {
 public:
  explicit HeldFetches(WindowState& common) : common_(common) {}

  /// Asks for them, of one rank or of all. If that fails, so must the completion that follows.
  int send(int rank);
  int send_all();

 private:
  int send_held(Target& target);
  int send_joined(std::span<const MissingPart> held, std::int64_t unit);
  int serve_waiters(const Target& target);

  WindowState& common_;
};

}  // namespace wherry::window
