#include "exec/peer_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/own_errno.hpp"
#include "layout/canonical.hpp"

namespace wherry::run {

namespace {

void* address_of(layout::Offset address) { return reinterpret_cast<void*>(address); }

layout::Offset number_of(const void* address) { return reinterpret_cast<layout::Offset>(address); }

/// Some bytes of a list of blocks after the other, as many at a time as both lists have in one call of the system.
class Pieces {
 public:
  static constexpr std::size_t most = 64;

  explicit Pieces(std::span<const layout::ByteBlock> blocks) : blocks_(blocks) {}

  /// The next blocks; their bytes.
  std::size_t fill() {
    count_ = std::min(most, blocks_.size() - next_);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const layout::ByteBlock& block = blocks_[next_ + i];
      const layout::Offset skipped = i == 0 ? skipped_ : 0;
      pieces_[i] = {address_of(block.displacement + skipped),
                    static_cast<std::size_t>(block.bytes - skipped)};
      bytes += pieces_[i].iov_len;
    }
    return bytes;
  }
  void advance(std::size_t bytes) {
    for (auto left = static_cast<layout::Offset>(bytes); left > 0;) {
      const layout::Offset rest = blocks_[next_].bytes - skipped_;
      if (left < rest) {
        skipped_ += left;
        return;
      }
      left -= rest;
      skipped_ = 0;
      ++next_;
    }
  }
  const iovec* data() const { return pieces_.data(); }
  std::size_t count() const { return count_; }

 private:
  std::span<const layout::ByteBlock> blocks_;
  std::size_t next_ = 0, count_ = 0;
  layout::Offset skipped_ = 0;  // of block next_
  std::array<iovec, most> pieces_;
};

bool read_all(pid_t process, std::span<const layout::ByteBlock> from, std::span<const layout::ByteBlock> to,
              long long bytes) {
  Pieces remote(from), local(to);
  while (bytes > 0) {
    const std::size_t offered = remote.fill(), room = local.fill();
    if (offered == 0 || room == 0) return false;
    const ssize_t read =
        ::process_vm_readv(process, local.data(), local.count(), remote.data(), remote.count(), 0);
    if (read <= 0) return false;
    remote.advance(static_cast<std::size_t>(read));
    local.advance(static_cast<std::size_t>(read));
    bytes -= read;
  }
  return true;
}

}  // namespace

void Offer::set(const std::vector<layout::ByteBlock>& blocks) {
  count_ = blocks.size();
  std::ranges::copy(blocks, blocks_);
  process_ = ::getpid();
  proof_address_ = &proof_;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  proof_ =
      (static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(process_) << 40)) * 0x9e3779b97f4a7c15;
}

bool Offer::is_whole(std::size_t bytes) const {
  constexpr std::size_t head = sizeof(Offer) - sizeof(Offer::blocks_);
  if (bytes < head || mark_ != mark || bytes_ < 0 || count_ > most_blocks) return false;
  return (!has_data_ || bytes_ <= most_data) && bytes == message_bytes();
}

bool Offer::read(const std::vector<layout::ByteBlock>& to) const {
  const OwnErrno own;
  const auto process = static_cast<pid_t>(process_);
  std::uint64_t proof = 0;
  const layout::ByteBlock there{number_of(proof_address_), sizeof proof},
      here{number_of(&proof), sizeof proof};
  if (!read_all(process, {&there, 1}, {&here, 1}, sizeof proof) || proof != proof_) return false;
  return read_all(process, {blocks_, count_}, to, bytes_);
}

std::vector<layout::ByteBlock> readable_blocks(const layout::PackPlan& plan, const std::byte* memory) {
  const layout::Offset most =
      std::min<layout::Offset>(Offer::most_blocks, plan.size() / Offer::least_block_bytes);
  if (plan.form().layout->blocks() > most) return {};
  std::vector<layout::ByteBlock> blocks = layout::maximal_blocks(plan.form().layout);
  for (layout::ByteBlock& block : blocks) block.displacement += number_of(memory) + plan.displacement();
  return blocks;
}

}  // namespace wherry::run
