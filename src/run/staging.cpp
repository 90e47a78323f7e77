#include "run/staging.hpp"

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
  std::swap(buffer_, other.buffer_);
}

Staging::Lease Staging::lease(std::size_t bytes) {
  Lease lease;
  lease.pool_ = this;
  {
    const std::lock_guard lock(mutex_);
    const auto fits = [bytes](const Lease::Buffer& b) { return b.bytes >= bytes; };
    if (const auto found = std::find_if(free_.begin(), free_.end(), fits); found != free_.end()) {
      kept_bytes_ -= found->bytes;
      lease.buffer_ = std::move(*found);
      free_.erase(found);
      return lease;
    }
  }
  // Powers of two, so that slowly growing requests settle on one buffer; yet none that would not be kept.
  const std::size_t rounded =
      std::max(bytes, std::min(std::bit_ceil(std::max<std::size_t>(bytes, 4096)), keep_bytes_));
  lease.buffer_.data.reset(new (std::nothrow) std::byte[rounded]);
  lease.buffer_.bytes = lease.buffer_.data ? rounded : 0;
  return lease;
}

void Staging::give_back(Lease::Buffer buffer) {
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + buffer.bytes > keep_bytes_) return;
  kept_bytes_ += buffer.bytes;
  free_.push_back(std::move(buffer));
  // Smallest first, so that a small request does not take a large buffer.
  std::sort(free_.begin(), free_.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

}  // namespace wherry::run
