// The decision of WHERRY_MEMORY=auto: whether malloc should keep memory that the program frees, from counters alone.
//
// Pure: what it answers depends on the samples that it is given and nothing else. Of a stretch between two samples it
// counts the faults on pages that the process has had before: those that its peak memory did not grow by. First touches
// of new memory are no reason to keep any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wherry::heap {

/// The process at one moment. Counters rise only.
struct FaultSample {
  std::uint64_t at_ns = 0;
  std::uint64_t faults = 0;      // without reading from a file
  std::uint64_t peak_bytes = 0;  // most memory resident so far
  std::uint64_t calls = 0;       // of MPI: how far the program has come
};

/// Between samples that are added up.
struct Stretch {
  std::uint64_t time_ns = 0;
  std::uint64_t faults = 0;
  std::uint64_t repeated = 0;  // of these, on memory that the process has had before
  std::uint64_t calls = 0;

  Stretch& operator+=(const Stretch& more);
};
Stretch between(const FaultSample& before, const FaultSample& after);

enum class Freed : std::uint32_t { returned = 0, kept = 1, taken_back = 2 };

/// The bounds of the decision; shares of the time.
struct Bounds {
  std::size_t stretches = 8;       // that must agree before memory is kept
  std::size_t settling = 8;        // not compared after a change: what is kept is touched for the first time
  std::size_t compared = 24;       // stretches, with those before
  double worth = 0.05;             // of the time for repeated faults, in the mean of the stretches
  double each = 0.02;              // in all of them but two
  double fewer = 0.5;              // what may be left of the faults
  double slower = 1.3;             // time per call that is not blamed on noise
  std::uint64_t first_calls = 16;  // the program's start
  std::uint64_t pause_ns = 2'000'000'000;  // before another attempt, doubled after each
};

/// Those of the preload. Many programs fault in each tenth step only, where they look at their results: what counts is
/// the mean over 32 ms.
inline constexpr Bounds in_programs = {.stretches = 16, .settling = 16, .each = 0};

class FreedMemory {
 public:
  /// fault_ns: what one fault costs.
  explicit FreedMemory(double fault_ns, const Bounds& bounds = {}) : fault_ns_(fault_ns), bounds_(bounds) {}

  /// What should hold from now on. Samples come in order, a few milliseconds apart.
  Freed next(const FaultSample& sample);
  /// Memory is short: taken back for good.
  Freed give_up();

  Freed state() const { return state_; }
  /// The share of a stretch that went into repeated faults.
  double share(const Stretch& stretch) const;

 private:
  static constexpr std::size_t most_stretches = 16;

  void remember(const Stretch& stretch);
  bool pays() const;
  bool has_paid() const;
  Freed change(Freed state, std::uint64_t now_ns);

  double fault_ns_;
  Bounds bounds_;
  Freed state_ = Freed::returned;
  bool for_good_ = false;
  FaultSample last_;
  std::array<Stretch, most_stretches> recent_ = {};  // a ring
  std::size_t count_ = 0;                            // since the last change
  Stretch before_, since_;
  std::uint64_t not_before_ns_ = 0;
  std::uint64_t pause_ns_ = bounds_.pause_ns;
};

}  // namespace wherry::heap
