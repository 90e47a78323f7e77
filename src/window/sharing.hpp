// What the ranks of a node read for each other: how a window uses its node's cache.
//
// The rank's own cache comes first. What it misses is looked for here before it is fetched, and what was fetched is
// offered here when it has come. What others find belongs to a phase, which lasts from one invalidation to the next;
// all ranks count them alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/node_cache.hpp"
#include "window/target.hpp"
#include "window/window_statistics.hpp"

namespace wherry::window {

class Sharing {
 public:
  void begin(cache::NodeCache& cache) { cache_ = &cache; }
  bool is_on() const { return cache_ != nullptr; }
  const NodeStatistics& statistics() const { return statistics_; }

  /// The program has invalidated.
  void next_phase() { ++phase_; }
  /// What this rank wrote to a target has got there. Until the phase is over its data are not shared, nor while a write
  /// is under way:
  /// another rank may offer what it read before.
  void note_write(Target& target) const { target.written_in = phase_; }

  /// Whether another rank has fetched the range; then it is in its place.
  bool finds(const Target& target, const MissingPart& part) {
    if (!serves(target) || !cache_->find(part.range, phase_, part.to)) return false;
    ++statistics_.found;
    statistics_.found_bytes += part.range.bytes;
    return true;
  }
  /// A part is being fetched, by the operation of this number.
  void expect(Target& target, const MissingPart& part, SequenceNumber sequence) const {
    if (serves(target)) target.coming.push_back({sequence, phase_, part.range, part.to});
  }
  /// It has come, and is where it was asked for.
  void offer(const Target& target, const Coming& come) {
    if (!serves(target) || come.phase != phase_ || come.aliased) return;
    ++statistics_.offered;
    statistics_.refused += !cache_->keep(come.range, phase_, come.bytes);
  }

 private:
  bool serves(const Target& target) const {
    return cache_ != nullptr && target.written_in != phase_ && target.written <= target.completed;
  }

  cache::NodeCache* cache_ = nullptr;
  std::uint64_t phase_ = 1;
  NodeStatistics statistics_;
};

}  // namespace wherry::window
