// Who copies the data of a layout faster, the MPI library or Wherry's kernels: from the times of the program's own
// calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wherry::layout {

enum class Copier : std::uint8_t { native, kernels };

/// What else is in the time of a call.
enum class CopyTiming : std::uint8_t {
  own,     // its own work only
  waiting  // what it waits for too, which may be most of it
};

/// For calls that are alike. Both copiers take turns for a few calls. Of a call's own work the smaller median is kept,
/// and that is the native one unless the kernels' is 3% less: one preempted call moves no median.
///
/// A call that waits may take any time. There the calls are paired, in an order that follows no rhythm of the program,
/// and a pair counts for the kernels if their call took 3% less. They are kept once they lead by six pairs, the library
/// once it leads by four, or if 32 pairs have not decided: where waits hide a difference there is little to win. Half of
/// the lead is enough while one copier took less than half the time in every pair so far. The order is the same for all
/// choices, so that where sender and receiver measure the same messages, both are tried in the same calls: one of them
/// alone may gain nothing.
///
/// Then the same is measured again from time to time, the more seldom the longer it holds and the slower the other is:
/// calls by the slower one cost less than 2% of all in the long run, or 3% where calls wait. Not thread-safe; integers
/// only, as the floating-point environment is the program's.
class MeasuredChoice {
 public:
  explicit MeasuredChoice(CopyTiming timing = CopyTiming::own) : timing_(timing) {}

  /// Who copies for the next call.
  Copier next();
  /// After next() has said native without a measurement: so many further calls may be native without asking; they count
  /// as calls.
  int pass();
  /// Whether took() should be told how long that call takes.
  bool is_measuring() const { return measuring_; }

  /// What a measurement has found.
  struct Found {
    Copier kept;
    std::uint64_t native_ns, kernels_ns;  // medians
    std::uint64_t call;                   // number of the call
  };
  /// nullopt: not yet.
  std::optional<Found> took(Copier copier, std::uint64_t ns);

 private:
  static constexpr std::size_t least = 3, most = 5;  // calls of each copier, whose times are their own
  static constexpr std::size_t most_pairs = 32;
  static constexpr int kernels_lead = 6, native_lead = -4;  // pairs
  static constexpr std::uint64_t first_interval = 256, longest_interval = std::uint64_t{1} << 20;

  struct Times {
    std::array<std::uint64_t, most_pairs> ns{};
    std::size_t count = 0;
    std::uint64_t median() const;
    std::uint64_t last() const { return ns[count - 1]; }
  };

  bool has_kernels_first() const;
  std::optional<Copier> by_medians() const;
  std::optional<Copier> by_pairs();
  Found decide(Copier better);

  CopyTiming timing_;
  int lead_ = 0;           // pairs in which the kernels were faster, less the others
  bool all_clear_ = true;  // so far one copier took less than half the time in every pair
  Times native_, kernels_;
  Copier kept_ = Copier::native;
  bool measuring_ = true;
  bool decided_ = false;
  std::uint64_t interval_ = first_interval, calls_left_ = 0, calls_ = 0;
};

}  // namespace wherry::layout
