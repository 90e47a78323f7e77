#include "layout/measured_choice.hpp"

#include <algorithm>

namespace wherry::layout {

namespace {

/// Whether one is so much faster that more calls would not change it.
bool is_clear(std::uint64_t a, std::uint64_t b) { return std::max(a, b) > 2 * std::min(a, b); }

}  // namespace

std::uint64_t MeasuredChoice::Times::median() const {
  std::array<std::uint64_t, most> sorted = ns;
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
  }
  return kernels_.count < native_.count ? Copier::kernels : Copier::native;
}

int MeasuredChoice::pass() {
  const std::uint64_t calls = std::min<std::uint64_t>(calls_left_ - 1, 63);
  calls_left_ -= calls;
  calls_ += calls;
  return static_cast<int>(calls);
}

std::optional<MeasuredChoice::Found> MeasuredChoice::took(Copier copier, std::uint64_t ns) {
  Times& times = copier == Copier::native ? native_ : kernels_;
  if (!measuring_ || times.count == most) return std::nullopt;  // several threads may be at it
  times.ns[times.count++] = std::max<std::uint64_t>(ns, 1);
  const std::size_t both = std::min(native_.count, kernels_.count);
  if (both < least) return std::nullopt;
  const std::uint64_t native_ns = native_.median(), kernels_ns = kernels_.median();
  if (both < most && !is_clear(native_ns, kernels_ns)) return std::nullopt;
  return decide(native_ns, kernels_ns);
}

MeasuredChoice::Found MeasuredChoice::decide(std::uint64_t native_ns, std::uint64_t kernels_ns) {
  const Copier better = kernels_ns < native_ns - native_ns / 32 ? Copier::kernels : Copier::native;
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
