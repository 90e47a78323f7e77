#include "remote/block_cache.hpp"

#include <algorithm>
#include <utility>

#include "support/mix.hpp"

namespace remote {
namespace {

std::size_t slots_of(const BlockOptions& options) {
  return std::max<std::size_t>(1, options.memory_bytes / options.block_bytes);
}

}  // namespace

BlockReader::BlockReader(std::unique_ptr<Transport> transport, const BlockOptions& options)
    : transport_(std::move(transport)),
      block_bytes_(options.block_bytes),
      slots_(slots_of(options)),
      memory_(slots_.size() * block_bytes_) {}

std::size_t BlockReader::bytes(const BlockOptions& options) {
  return slots_of(options) * (sizeof(Slot) + options.block_bytes);
}

/// Neighboring blocks of a target never meet; targets begin at different slots.
std::size_t BlockReader::slot_of(int target, std::size_t block) const {
  return (apps::mix(static_cast<std::uint64_t>(target)) + block) % slots_.size();
}

void BlockReader::get(std::span<std::byte> into, int target, std::size_t displacement, double) {
  ++statistics_.gets;
  statistics_.get_bytes += into.size();
  bool hit = true;
  while (!into.empty()) {
    const std::size_t block = displacement / block_bytes_, begin = displacement % block_bytes_;
    const std::size_t bytes = std::min(into.size(), block_bytes_ - begin);
    const std::size_t slot = slot_of(target, block);
    hit &= hold(slot, target, block);
    const std::byte* const from = bytes_of(slot) + begin;
    if (slots_[slot].state == State::valid) std::memcpy(into.data(), from, bytes);
    else copies_.push_back({into.data(), from, bytes});
    into = into.subspan(bytes);
    displacement += bytes;
  }
  statistics_.hits += hit ? 1 : 0;
}

bool BlockReader::hold(std::size_t slot, int target, std::size_t block) {
  const Slot& here = slots_[slot];
  if (here.state != State::empty && here.target == target && here.block == block) return true;
  // Others wait for what is on its way to this slot.
  if (here.state == State::under_way) flush();
  fetch(slot, target, block);
  return false;
}

void BlockReader::fetch(std::size_t slot, int target, std::size_t block) {
  const std::size_t begin = block * block_bytes_;
  const std::size_t bytes = std::min(block_bytes_, transport_->size(target) - begin);
  transport_->start_get({bytes_of(slot), bytes}, target, begin);
  slots_[slot] = {State::under_way, target, block};
  under_way_.push_back(slot);
  ++statistics_.moves;
  statistics_.move_bytes += bytes;
}

void BlockReader::flush() {
  if (under_way_.empty()) return;
  transport_->complete();
  for (const std::size_t slot : under_way_) slots_[slot].state = State::valid;
  for (const Copy& copy : copies_) std::memcpy(copy.to, copy.from, copy.bytes);
  under_way_.clear();
  copies_.clear();
}

void BlockReader::renew() {
  flush();
  std::ranges::fill(slots_, Slot{});
  transport_->renew();
}

}  // namespace remote
