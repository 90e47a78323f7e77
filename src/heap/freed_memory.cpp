#include "heap/freed_memory.hpp"

#include <algorithm>

namespace wherry::heap {
namespace {

constexpr std::uint64_t page_bytes = 4096;

constexpr std::uint64_t rise(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

Stretch& Stretch::operator+=(const Stretch& more) {
  time_ns += more.time_ns;
  faults += more.faults;
  repeated += more.repeated;
  calls += more.calls;
  return *this;
}

Stretch between(const FaultSample& before, const FaultSample& after) {
  const std::uint64_t faults = rise(before.faults, after.faults);
  const std::uint64_t grown = rise(before.peak_bytes, after.peak_bytes) / page_bytes;
  return {rise(before.at_ns, after.at_ns), faults, faults > grown ? faults - grown : 0,
          rise(before.calls, after.calls)};
}

double FreedMemory::share(const Stretch& stretch) const {
  if (stretch.time_ns == 0) return 0;
  return std::min(1.0,
                  static_cast<double>(stretch.repeated) * fault_ns_ / static_cast<double>(stretch.time_ns));
}

Freed FreedMemory::next(const FaultSample& sample) {
  const bool first = last_.at_ns == 0;
  const Stretch stretch = between(last_, sample);
  last_ = sample;
  if (first || for_good_ || stretch.time_ns == 0) return state_;
  remember(stretch);
  if (state_ != Freed::kept) {
    const bool may = sample.calls >= bounds_.first_calls && sample.at_ns >= not_before_ns_;
    return may && pays() ? change(Freed::kept, sample.at_ns) : state_;
  }
  const std::size_t needed = bounds_.settling + bounds_.compared;
  if (count_ != needed || has_paid()) return state_;
  return change(Freed::taken_back, sample.at_ns);
}

Freed FreedMemory::give_up() {
  for_good_ = true;
  return state_ = Freed::taken_back;
}

void FreedMemory::remember(const Stretch& stretch) {
  recent_[count_++ % most_stretches] = stretch;
  if (state_ == Freed::kept && count_ > bounds_.settling && count_ <= bounds_.settling + bounds_.compared)
    since_ += stretch;
}

/// Whether keeping memory would save faults that cost time all along, not just once.
bool FreedMemory::pays() const {
  if (count_ < bounds_.stretches) return false;
  Stretch sum;
  std::size_t idle = 0;
  for (std::size_t i = 1; i <= bounds_.stretches; ++i) {
    const Stretch& stretch = recent_[(count_ - i) % most_stretches];
    sum += stretch;
    idle += share(stretch) < bounds_.each;
  }
  return share(sum) >= bounds_.worth && idle <= 2;
}

/// Compared once, by the stretches after those in which the heap took its new shape.
bool FreedMemory::has_paid() const {
  if (share(since_) > bounds_.fewer * share(before_)) return false;
  const auto per_call = [](const Stretch& s) {
    return static_cast<double>(s.time_ns) / static_cast<double>(std::max<std::uint64_t>(s.calls, 1));
  };
  // A slower program with faults all but gone is in another phase.
  const bool gone = share(since_) <= 0.1 * share(before_);
  return gone || per_call(since_) <= bounds_.slower * per_call(before_);
}

Freed FreedMemory::change(Freed state, std::uint64_t now_ns) {
  if (state == Freed::kept) {
    before_ = {};
    for (std::size_t i = 1; i <= bounds_.stretches; ++i) before_ += recent_[(count_ - i) % most_stretches];
  } else {
    not_before_ns_ = now_ns + pause_ns_;
    pause_ns_ *= 2;
  }
  since_ = {};
  count_ = 0;
  return state_ = state;
}

}  // namespace wherry::heap
