// Who copies the data of calls that are alike, the MPI library or Wherry's kernels: as WHERRY_LAYOUT says, or by
// measurement.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/settings.hpp"
#include "layout/measured_choice.hpp"

namespace wherry::p2p {

using layout::Copier;
using Found = layout::MeasuredChoice::Found;

inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Not thread-safe.
class CopierChoices {
 public:
  CopierChoices(LayoutLever lever, layout::CopyTiming timing) : lever_(lever), timing_(timing) {}

  /// Of one call.
  struct Turn {
    Copier copier = Copier::native;
    layout::MeasuredChoice* choice = nullptr;  // what it is a turn of; nullptr: nothing is chosen
    bool timed = false;

    bool is_ours() const { return copier == Copier::kernels; }
  };
  Turn next(std::uint64_t key);
  /// How long it took; what that has decided.
  static std::optional<Found> took(const Turn& turn, std::uint64_t ns) {
    return turn.timed ? turn.choice->took(turn.copier, ns) : std::nullopt;
  }

 private:
  // With more kinds of calls, a program's types have nothing in common.
  static constexpr std::size_t most_choices = 4096;

  const LayoutLever lever_;
  const layout::CopyTiming timing_;
  std::unordered_map<std::uint64_t, layout::MeasuredChoice> choices_;  // by what calls have in common
};

/// Calls that are native without a look at their types: a number for each place in the program that makes them.
/// Thread-safe; a count that two threads lower at once is lowered once.
class PassedCalls {
 public:
  /// Whether the next call at this place is among them; it counts.
  bool take(std::uint64_t place) {
    std::atomic<std::uint64_t>& entry = entry_of(place);
    const std::uint64_t found = entry.load(std::memory_order_relaxed);
    if (found / calls_limit != place / calls_limit || found % calls_limit == 0) return false;
    entry.store(found - 1, std::memory_order_relaxed);
    return true;
  }
  /// Whether put() would take none of another place's.
  bool has_room(std::uint64_t place) {
    const std::uint64_t found = entry_of(place).load(std::memory_order_relaxed);
    return found / calls_limit == place / calls_limit || found % calls_limit == 0;
  }
  /// calls: fewer than calls_limit.
  void put(std::uint64_t place, int calls) {
    entry_of(place).store(place / calls_limit * calls_limit + static_cast<std::uint64_t>(calls),
                          std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t calls_limit =
      64;  // the low bits of a place tell nothing, which a hash can spare
  std::atomic<std::uint64_t>& entry_of(std::uint64_t place) {
    return entries_[(place >> 32) % entries_.size()];
  }

  std::array<std::atomic<std::uint64_t>, 64> entries_{};
};

inline CopierChoices::Turn CopierChoices::next(std::uint64_t key) {
  if (lever_ == LayoutLever::wherry) return {.copier = Copier::kernels};
  auto at = choices_.find(key);
  if (at == choices_.end()) {
    if (choices_.size() >= most_choices) return {};
    at = choices_.emplace(key, timing_).first;
  }
  const Copier copier = at->second.next();
  return {.copier = copier, .choice = &at->second, .timed = at->second.is_measuring()};
}

}  // namespace wherry::p2p
