// The calls that are under way on this thread, by the unwind tables of the code.
#pragma once

#include <cstddef>
#include <span>

namespace wherry::profile {

/// Return addresses of the calls that led to the one that returns to `site`, which must be under way on this thread,
/// innermost first; how many there are. 0: they cannot be told, as on the stack of a coroutine.
///
/// Needs no frame pointers and no memory. It reads only the frames up to the last one asked for, however deep the stack.
std::size_t callers_of(const void* site, std::span<const void*> callers);

}  // namespace wherry::profile
