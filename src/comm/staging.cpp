#include "comm/staging.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace wherry::run {

Staging::Lease::~Lease() {
  if (pool_ != nullptr && buffer_.data) pool_->give_back(std::move(buffer_));
}

void Staging::Lease::swap(Lease& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(wanted_, other.wanted_);
  std::swap(buffer_, other.buffer_);
}

Staging::Lease::Buffer Staging::Lease::Buffer::of(std::size_t bytes) {
  Buffer made;
  made.data.reset(new (std::nothrow) std::byte[bytes]);
  made.bytes = made.data ? bytes : 0;
  return made;
}

bool Staging::reserve(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes <= reserved_bytes_) return true;
  Lease::Buffer made = Lease::Buffer::of(bytes);
  if (!made.data) return false;
  made.reserved = true;
  reserve_ = std::move(made);
  reserved_bytes_ = bytes;
  return true;
}

/// What is reserved comes first: it is there to be used.
Staging::Lease::Buffer Staging::take_kept(std::size_t bytes, Patience patience) {
  const std::lock_guard lock(mutex_);
  if (patience == Patience::wait && reserve_.data && reserve_.bytes >= bytes)
    return std::exchange(reserve_, {});
  const auto fits = [bytes](const Lease::Buffer& b) { return b.bytes >= bytes; };
  const auto found = std::ranges::find_if(free_, fits);
  if (found == free_.end()) return {};
  Lease::Buffer taken = std::move(*found);
  free_.erase(found);
  kept_bytes_ -= taken.bytes;
  return taken;
}

Staging::Lease Staging::lease(std::size_t bytes, Patience patience) {
  Lease lease;
  if (bytes == 0) return lease;
  lease.pool_ = this;
  lease.wanted_ = bytes;
  lease.buffer_ = take_kept(bytes, patience);
  if (lease.buffer_.data) return lease;
  // Powers of two, so that slowly growing requests settle on one buffer; yet none that would not be kept.
  lease.buffer_ = Lease::Buffer::of(
      std::max(bytes, std::min(std::bit_ceil(std::max<std::size_t>(bytes, 4096)), keep_bytes_)));
  return lease;
}

void Staging::give_back(Lease::Buffer buffer) {
  const std::lock_guard lock(mutex_);
  if (buffer.reserved) {
    // Meanwhile a larger one may have been reserved.
    if (buffer.bytes == reserved_bytes_) reserve_ = std::move(buffer);
    return;
  }
  if (kept_bytes_ + buffer.bytes > keep_bytes_) return;
  kept_bytes_ += buffer.bytes;
  free_.push_back(std::move(buffer));
  // Smallest first, so that a small request does not take a large buffer.
  std::sort(free_.begin(), free_.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

}  // namespace wherry::run
