// Who copies the data of a layout faster, the MPI library or Wherry's kernels: from the times of the program's own calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wherry::layout {

enum class Copier : std::uint8_t { native, kernels };

/// For calls that are alike. Both copiers take turns for a few calls; the smaller median is kept, and it is the library's unless the
/// kernels' is 3% less. Then the same is measured again from time to time, the more seldom the longer it holds and the slower
/// the other is: calls by the slower one cost less than 2% of all. One preempted call moves no median. Not thread-safe; integers only,
/// as the floating-point environment is the program's.
class MeasuredChoice {
 public:
  /// Who copies for the next call.
  Copier next();
  /// After next() has said native without a measurement: so many further calls may be native without asking; they count as calls.
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
  static constexpr std::size_t least = 3, most = 5;  // calls of each copier
  static constexpr std::uint64_t first_interval = 256, longest_interval = std::uint64_t{1} << 20;

  struct Times {
    std::array<std::uint64_t, most> ns{};
    std::size_t count = 0;
    std::uint64_t median() const;
  };

  Found decide(std::uint64_t native_ns, std::uint64_t kernels_ns);

  Times native_, kernels_;
  Copier kept_ = Copier::native;
  bool measuring_ = true;
  bool decided_ = false;
  std::uint64_t interval_ = first_interval, calls_left_ = 0, calls_ = 0;
};

}  // namespace wherry::layout
