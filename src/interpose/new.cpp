// operator new and delete of a backend, and of the C++ library inside it: from Wherry's arena instead of the program's
// heap.
//
// Of the backends only: they export one name and bind their own to themselves (backend.map, -Bsymbolic). A program that
// links the library of include/wherry/ keeps its own.
#include <new>

#include "interpose/backend.hpp"

namespace wherry::interpose {

namespace {

void* allocate(std::size_t bytes, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  void* const data = arena.allocate(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace
}  // namespace wherry::interpose

using wherry::interpose::allocate;
using wherry::interpose::arena;
using wherry::interpose::number;
using Alignment = std::align_val_t;
using Nothrow = std::nothrow_t;

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, Alignment alignment) { return allocate(bytes, number(alignment)); }
void* operator new[](std::size_t bytes, Alignment alignment) { return allocate(bytes, number(alignment)); }
void* operator new(std::size_t bytes, const Nothrow&) noexcept { return arena.allocate(bytes); }
void* operator new[](std::size_t bytes, const Nothrow&) noexcept { return arena.allocate(bytes); }
void* operator new(std::size_t bytes, Alignment alignment, const Nothrow&) noexcept {
  return arena.allocate(bytes, number(alignment));
}
void* operator new[](std::size_t bytes, Alignment alignment, const Nothrow&) noexcept {
  return arena.allocate(bytes, number(alignment));
}

void operator delete(void* data) noexcept { arena.release(data); }
void operator delete[](void* data) noexcept { arena.release(data); }
void operator delete(void* data, std::size_t) noexcept { arena.release(data); }
void operator delete[](void* data, std::size_t) noexcept { arena.release(data); }
void operator delete(void* data, Alignment) noexcept { arena.release(data); }
void operator delete[](void* data, Alignment) noexcept { arena.release(data); }
void operator delete(void* data, std::size_t, Alignment) noexcept { arena.release(data); }
void operator delete[](void* data, std::size_t, Alignment) noexcept { arena.release(data); }
void operator delete(void* data, const Nothrow&) noexcept { arena.release(data); }
void operator delete[](void* data, const Nothrow&) noexcept { arena.release(data); }
void operator delete(void* data, Alignment, const Nothrow&) noexcept { arena.release(data); }
void operator delete[](void* data, Alignment, const Nothrow&) noexcept { arena.release(data); }
