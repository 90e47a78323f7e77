// The calls that are under way on this thread, by the unwind tables of the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wherry::profile {

/// Of code; empty: begin and end are equal.
struct AddressRange {
  std::uintptr_t begin = 0, end = 0;

  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};

/// Return addresses of the calls that led to the one that returns to `site`, which must be under way on this thread,
/// innermost first, up to the first one in `stop`; how many there are. 0: they cannot be told, as on the stack of a
/// coroutine.
///
/// Needs no frame pointers. It reads only the frames up to the last one asked for, however deep the stack.
std::size_t callers_of(const void* site, std::span<const void*> callers, AddressRange stop = {});

}  // namespace wherry::profile
