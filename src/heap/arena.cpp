#include "heap/arena.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/own_errno.hpp"

namespace wherry::heap {
namespace {

constexpr std::size_t unit = 16;
constexpr std::size_t page = 4096;
constexpr std::size_t first_chunk = std::size_t{64} << 10;
constexpr std::size_t largest_chunk = std::size_t{1} << 20;
constexpr std::size_t most = std::size_t{1} << 46;  // no address space has more; sums below cannot overflow

/// Rounds up to one of four steps in each doubling: 160, 192, 224, 256, 320, ...; at most a fifth is added.
constexpr std::size_t rounded(std::size_t bytes) {
  if (bytes <= 8 * unit) return (bytes + unit - 1) / unit * unit;
  const std::size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

/// The bin of a size that rounded() gave.
constexpr std::uint32_t bin_of(std::size_t bytes) {
  if (bytes <= 8 * unit) return static_cast<std::uint32_t>(bytes / unit - 1);
  const std::size_t below = std::bit_floor(bytes - 1);
  const auto doublings = static_cast<std::uint32_t>(std::countr_zero(below) - std::countr_zero(8 * unit));
  return 8 + 4 * doublings + static_cast<std::uint32_t>((bytes - below) / (below / 4)) - 1;
}

constexpr std::size_t bytes_of(std::uint32_t bin) {
  if (bin < 8) return (bin + 1) * unit;
  const std::size_t below = (8 * unit) << (bin - 8) / 4;
  return below + ((bin - 8) % 4 + 1) * (below / 4);
}

static_assert(bin_of(16) == 0 && bin_of(128) == 7 && bin_of(160) == 8 && bin_of(256) == 11);
static_assert(bin_of(320) == 12);
static_assert(bytes_of(7) == 128 && bytes_of(8) == 160 && bytes_of(35) == Arena::small_max);

/// Where the address space is limited, what is kept would be taken from the program.
std::size_t most_kept() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return Arena::kept_max;
  return std::min<std::size_t>(Arena::kept_max, limit.rlim_cur / 64);
}

}  // namespace

/// Lies before each block that is in use.
struct Arena::Header {
  std::uint64_t mapped;  // bytes of the mapping; 0: a small block
  std::uint32_t bin;     // of a small block
  std::uint32_t offset;  // of the data, from where the block begins
};

void* Arena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  static_assert(sizeof(Header) == unit);
  if (bytes > most || alignment > std::size_t{1} << 31) return nullptr;
  const std::size_t slack = alignment <= unit ? 0 : alignment;
  std::size_t wanted = rounded(sizeof(Header) + bytes + slack);
  const bool small = wanted <= small_max;
  if (!small) wanted = (wanted + page - 1) / page * page;
  const std::lock_guard lock(mutex_);
  std::byte* const block = small ? small_block(bin_of(wanted)) : large_block(wanted);
  if (block == nullptr) return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(Header);
  const std::size_t skipped = slack == 0 ? 0 : (alignment - first % alignment) % alignment;
  std::byte* const data = block + sizeof(Header) + skipped;
  *reinterpret_cast<Header*>(data - sizeof(Header)) = {small ? 0 : wanted, small ? bin_of(wanted) : 0,
                                                       static_cast<std::uint32_t>(sizeof(Header) + skipped)};
  return data;
}

void Arena::release(void* data) noexcept {
  if (data == nullptr) return;
  std::byte* const at = static_cast<std::byte*>(data);
  const Header header = *reinterpret_cast<Header*>(at - sizeof(Header));
  std::byte* const block = at - header.offset;
  const std::lock_guard lock(mutex_);
  if (header.mapped != 0) {
    usage_.large_bytes -= header.mapped;
    return keep({block, header.mapped});
  }
  Free* const freed = reinterpret_cast<Free*>(block);
  freed->next = free_[header.bin];
  free_[header.bin] = freed;
}

Arena::Usage Arena::usage() noexcept {
  const std::lock_guard lock(mutex_);
  return usage_;
}

std::byte* Arena::small_block(std::uint32_t bin) noexcept {
  if (Free* const found = free_[bin]) {
    free_[bin] = found->next;
    return reinterpret_cast<std::byte*>(found);
  }
  const std::size_t bytes = bytes_of(bin);
  if (static_cast<std::size_t>(end_ - next_) < bytes && !add_chunk()) return nullptr;
  return std::exchange(next_, next_ + bytes);
}

/// As large as what there is already, so that little lies idle. What is left of the chunk before is less than
/// small_max.
bool Arena::add_chunk() noexcept {
  const std::size_t bytes = std::clamp(usage_.chunk_bytes, first_chunk, largest_chunk);
  auto* const chunk = static_cast<std::byte*>(map(bytes));
  if (chunk == nullptr) return false;
  next_ = chunk;
  end_ = chunk + bytes;
  usage_.chunk_bytes += bytes;
  return true;
}

std::byte* Arena::large_block(std::size_t bytes) noexcept {
  // The newest first: its pages may still be in the processor's caches.
  for (std::size_t i = kept_count_; i-- > 0;) {
    if (kept_[i].bytes != bytes) continue;
    std::byte* const found = kept_[i].data;
    std::move(kept_.begin() + i + 1, kept_.begin() + kept_count_, kept_.begin() + i);
    --kept_count_;
    usage_.kept_bytes -= bytes;
    usage_.large_bytes += bytes;
    return found;
  }
  auto* const made = static_cast<std::byte*>(map(bytes));
  if (made != nullptr) usage_.large_bytes += bytes;
  return made;
}

void Arena::keep(Mapping mapping) noexcept {
  const std::size_t room = most_kept();
  if (mapping.bytes > room) return void(::munmap(mapping.data, mapping.bytes));
  while (kept_count_ == kept_.size() || usage_.kept_bytes + mapping.bytes > room) drop_oldest();
  kept_[kept_count_++] = mapping;
  usage_.kept_bytes += mapping.bytes;
}

void Arena::drop_oldest() noexcept {
  ::munmap(kept_[0].data, kept_[0].bytes);
  usage_.kept_bytes -= kept_[0].bytes;
  std::move(kept_.begin() + 1, kept_.begin() + kept_count_, kept_.begin());
  --kept_count_;
}

/// nullptr: no memory, even without what is kept.
void* Arena::map(std::size_t bytes) noexcept {
  const OwnErrno own;
  for (;;) {
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data != MAP_FAILED) return data;
    if (kept_count_ == 0) return nullptr;
    drop_oldest();
  }
}

}  // namespace wherry::heap
