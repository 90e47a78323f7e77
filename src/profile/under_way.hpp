// What a rank that hangs is in, as its record's header says it. Needs no lock, as that part of it never moves.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "profile/record.hpp"

namespace wherry::profile {

/// For one that reads while others write.
template <class Number>
void set_shared(Number& number, std::type_identity_t<Number> value) {
  std::atomic_ref(number).store(value, std::memory_order_relaxed);
}

/// site: its return address. enter_ns: 0: not known.
inline CallUnderWay under_way(std::uint32_t function, const void* site, std::uint64_t enter_ns) {
  return {reinterpret_cast<std::uintptr_t>(site), enter_ns, function, 0};
}

/// thread: 0, 1, ... in the order of their first calls.
[[gnu::always_inline]] inline void begin_call(Header& header, std::uint32_t thread,
                                              const CallUnderWay& call) {
  if (thread >= std::size(header.under_way)) return set_shared(header.more_threads, 1);
  CallUnderWay& own = header.under_way[thread];
  set_shared(own.site, call.site);
  set_shared(own.enter_ns, call.enter_ns);
  set_shared(own.function, call.function);
}
[[gnu::always_inline]] inline void end_call(Header& header, std::uint32_t thread) {
  if (thread < std::size(header.under_way)) set_shared(header.under_way[thread].function, CallUnderWay::none);
}

/// row: of the call that ended last.
[[gnu::always_inline]] inline void set_last_call(Header& header, std::uint32_t row) {
  set_shared(header.last_call, row);
}

}  // namespace wherry::profile
