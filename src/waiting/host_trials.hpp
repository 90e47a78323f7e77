// What the ranks of a host tell each other while they try to spin and to poll, in memory that they share.
//
// Ranks that wait for each other are fast or slow together, and one that polls while the others spin gains nothing. So
// what one of them tries, all try, at the same times, and they do the same afterwards. Without shared memory each rank
// has one of these for itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wherry::waiting {

/// Blocking calls in a time, by one way to wait and by the other. Not negative.
struct Rates {
  float spun = 0, polled = 0;
};

/// Memory full of zeros is one that nobody has told anything. Thread-safe, and safe between processes.
class HostTrials {
 public:
  struct Result {
    std::uint64_t until_ns = 0;  // of the host's monotonic clock
    bool polls = false;
    bool operator==(const Result&) const = default;
  };

  /// Takes part in the trial that goes on, or begins one that ends before the pair `end`. Before which it ends.
  std::uint64_t join(std::uint64_t pair, std::uint64_t end);
  /// Whether a trial goes on.
  bool is_on(std::uint64_t pair) const { return end_.load(std::memory_order_relaxed) > pair; }
  /// Whether any rank has ever begun one.
  bool has_begun() const { return end_.load(std::memory_order_relaxed) != 0; }
  /// Adds what a rank brought in a pair of a trial.
  void add(std::uint64_t pair, const Rates& rates);
  /// What ranks have added for a pair so far, together; nothing: nothing was.
  std::optional<Rates> sum(std::uint64_t pair) const;
  /// Ends the trial. Of ranks that end it at once, the last one is right.
  void end(const Result& result);
  Result last() const;
  /// At that time somebody else wanted the core of a rank.
  void disturbed(std::uint64_t wall_ns);
  /// The last such time; 0: never.
  std::uint64_t last_disturbed_ns() const { return disturbed_ns_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kept_pairs = 8;

  std::atomic<std::uint64_t> end_ = 0;
  std::atomic<std::uint64_t> last_ = 0;
  std::atomic<std::uint64_t> disturbed_ns_ = 0;
  std::array<std::atomic<std::uint64_t>, kept_pairs> pairs_{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A number for ranks of one program that no other program has; 0: the system gives none.
std::uint64_t new_host_number();
/// Maps what the processes of this user on this host share by a number; nullptr: there is no such memory. It stays until
/// the process ends.
HostTrials* map_host_trials(std::uint64_t number);
/// Nobody finds it any more. For when all have mapped it; any of them may, or all.
void hide_host_trials(std::uint64_t number);

}  // namespace wherry::waiting
