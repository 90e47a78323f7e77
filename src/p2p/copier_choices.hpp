// Who copies the data of calls that are alike, the MPI library or Wherry's kernels: as WHERRY_LAYOUT says, or by
// measurement.
#pragma once

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
  CopierChoices(LayoutLever lever, layout::Timing timing) : lever_(lever), timing_(timing) {}

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
  const layout::Timing timing_;
  std::unordered_map<std::uint64_t, layout::MeasuredChoice> choices_;  // by what calls have in common
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
