// Fetches under way, and who else waits for their bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cache/index.hpp"

namespace wherry::cache {

/// Names a fetch that was asked for, until it is filled or abandoned. 0: nobody wants to know.
using Ticket = std::uint32_t;

struct Fetch {
  Ref entry = 0;                 // whose bytes these are; 0: no longer wanted in the cache
  std::uint32_t generation = 0;  // in which the entry is valid
  std::uint64_t offset = 0;      // in the entry
  std::uint64_t bytes = 0;
  Ticket next = 0;  // of the same entry
  std::uint32_t waiters = 0;
};

/// A table of fetches of any number; finished ones leave their place to others.
class Fetches {
 public:
  std::size_t size() const { return size_; }
  Fetch& operator[](Ticket ticket) { return fetches_[ticket]; }

  Ticket begin(const Fetch& fetch) {
    ++size_;
    return place(fetches_, free_fetch_, fetch);
  }

  /// Has bytes [skip, skip + bytes) of a fetch copied to `destination` when it is filled.
  void wait(Ticket ticket, std::uint64_t skip, std::uint64_t bytes, std::byte* destination) {
    const Waiter waiter{skip, bytes, destination, fetches_[ticket].waiters};
    fetches_[ticket].waiters = place(waiters_, free_waiter_, waiter);
  }

  /// Calls use(skip, bytes, destination) for those who wait, who then wait no more.
  template <class Use>
  void release(Ticket ticket, Use&& use) {
    for (std::uint32_t at = std::exchange(fetches_[ticket].waiters, 0); at != 0;) {
      Waiter& waiter = waiters_[at];
      use(waiter.skip, waiter.bytes, waiter.destination);
      at = std::exchange(waiter.next, std::exchange(free_waiter_, at));
    }
  }

  /// Gives those who wait their bytes; data == nullptr: there are none to give. The ticket is void then.
  void end(Ticket ticket, const std::byte* data) {
    release(ticket, [&](std::uint64_t skip, std::uint64_t bytes, std::byte* destination) {
      // It may wait where the bytes come to.
      if (data != nullptr) std::memmove(destination, data + skip, bytes);
    });
    fetches_[ticket] = {.next = free_fetch_};
    free_fetch_ = ticket;
    --size_;
  }

 private:
  struct Waiter {
    std::uint64_t skip = 0, bytes = 0;
    std::byte* destination = nullptr;
    std::uint32_t next = 0;
  };

  template <class Item>
  static std::uint32_t place(std::vector<Item>& items, std::uint32_t& free, const Item& item) {
    if (free == 0) {
      items.push_back(item);
      return static_cast<std::uint32_t>(items.size() - 1);
    }
    const std::uint32_t at = free;
    free = items[at].next;
    items[at] = item;
    return at;
  }

  // Number 0 is nobody's.
  std::vector<Fetch> fetches_ = std::vector<Fetch>(1);
  std::vector<Waiter> waiters_ = std::vector<Waiter>(1);
  std::uint32_t free_fetch_ = 0, free_waiter_ = 0;
  std::size_t size_ = 0;
};

}  // namespace wherry::cache
