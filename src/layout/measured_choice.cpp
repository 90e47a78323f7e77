#include "layout/measured_choice.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace wherry::layout {

namespace {

/// Whether one is so much faster that more calls would not change it.
bool is_clear(std::uint64_t a, std::uint64_t b) { return std::max(a, b) > 2 * std::min(a, b); }

/// Whether the kernels' time is so much less that the library had better not do it.
bool is_less(std::uint64_t kernels_ns, std::uint64_t native_ns) {
  return kernels_ns < native_ns - native_ns / 32;
}

}  // namespace

std::uint64_t MeasuredChoice::Times::median() const {
  std::array<std::uint64_t, most_pairs> sorted = ns;
  auto* const middle = sorted.begin() + (count - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count);
  return *middle;
}

Copier MeasuredChoice::next() {
  ++calls_;
  if (!measuring_) {
    if (--calls_left_ > 0) return kept_;
    measuring_ = true;
    native_.count = kernels_.count = 0;
    lead_ = 0;
    all_clear_ = true;
  }
  if (kernels_.count == native_.count) return has_kernels_first() ? Copier::kernels : Copier::native;
  return kernels_.count < native_.count ? Copier::kernels : Copier::native;
}

/// The sequence of Thue and Morse: if every other call takes longer, neither copier ever leads by more than a pair for
/// it.
bool MeasuredChoice::has_kernels_first() const {
  return timing_ == CopyTiming::waiting && std::popcount(native_.count) % 2 != 0;
}

int MeasuredChoice::pass() {
  if (measuring_ || calls_left_ == 0) return 0;  // another thread has come in between
  const std::uint64_t calls = std::min<std::uint64_t>(calls_left_ - 1, 63);
  calls_left_ -= calls;
  calls_ += calls;
  return static_cast<int>(calls);
}

std::optional<MeasuredChoice::Found> MeasuredChoice::took(Copier copier, std::uint64_t ns) {
  Times& times = copier == Copier::native ? native_ : kernels_;
  const std::size_t limit = timing_ == CopyTiming::own ? most : most_pairs;
  if (!measuring_ || times.count == limit) return std::nullopt;  // several threads may be at it
  times.ns[times.count++] = std::max<std::uint64_t>(ns, 1);
  const std::optional<Copier> better = timing_ == CopyTiming::own ? by_medians() : by_pairs();
  if (!better) return std::nullopt;
  return decide(*better);
}

std::optional<Copier> MeasuredChoice::by_medians() const {
  const std::size_t both = std::min(native_.count, kernels_.count);
  if (both < least) return std::nullopt;
  const std::uint64_t native_ns = native_.median(), kernels_ns = kernels_.median();
  if (both < most && !is_clear(native_ns, kernels_ns)) return std::nullopt;
  return is_less(kernels_ns, native_ns) ? Copier::kernels : Copier::native;
}

/// After each call; a pair ends with its second.
std::optional<Copier> MeasuredChoice::by_pairs() {
  if (native_.count != kernels_.count) return std::nullopt;
  lead_ += is_less(kernels_.last(), native_.last()) ? 1 : -1;
  all_clear_ = all_clear_ && is_clear(kernels_.last(), native_.last()) &&
               std::abs(lead_) == static_cast<int>(native_.count);
  const int weight = all_clear_ ? 2 : 1;
  if (weight * lead_ >= kernels_lead) return Copier::kernels;
  if (weight * lead_ <= native_lead || native_.count == most_pairs) return Copier::native;
  return std::nullopt;
}

MeasuredChoice::Found MeasuredChoice::decide(Copier better) {
  const std::uint64_t native_ns = native_.median(), kernels_ns = kernels_.median();
  const std::uint64_t ratio = std::max(native_ns, kernels_ns) / std::min(native_ns, kernels_ns);
  interval_ = decided_ && better == kept_ ? 4 * interval_ : first_interval * ratio;
  interval_ = std::min(interval_, longest_interval);
  kept_ = better;
  decided_ = true;
  measuring_ = false;
  calls_left_ = interval_;
  return {kept_, native_ns, kernels_ns, calls_};
}

}  // namespace wherry::layout
