#include "cache/memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "base/error.hpp"

namespace wherry::cache {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }
constexpr std::size_t down(std::size_t bytes, std::size_t unit) { return bytes / unit * unit; }

}  // namespace

Memory::Memory(std::size_t most) : reserved_bytes_(up(most, page) + huge_page), most_(up(most, page)) {
  void* range = ::mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  reserved_ = static_cast<std::byte*>(range);
  const auto address = reinterpret_cast<std::uintptr_t>(range);
  data_ = reserved_ + (up(address, huge_page) - address);
}

Memory::~Memory() { ::munmap(reserved_, reserved_bytes_); }

void Memory::commit(std::size_t bytes) {
  bytes = up(bytes, page);
  require(bytes <= most_, "more memory asked for than was reserved");
  if (bytes > committed_) populate(committed_, bytes);
  else if (bytes < committed_) ::madvise(data_ + bytes, committed_ - bytes, MADV_DONTNEED);
  committed_ = bytes;
}

void Memory::populate(std::size_t from, std::size_t to) {
  // Huge pages spare random lookups most of their address translations. Only where they fit as a whole: they
  // must not back what is not committed.
  const std::size_t begin = down(from, huge_page), end = down(to, huge_page);
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_HUGEPAGE);
  for (std::size_t at = from; at < to; at += page) *const_cast<volatile std::byte*>(data_ + at) = std::byte{};
}

}  // namespace wherry::cache
