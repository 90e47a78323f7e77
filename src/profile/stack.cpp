#include "profile/stack.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

extern "C" [[gnu::weak]] void* __libc_stack_end;  // of the main thread, by glibc's loader

namespace wherry::profile {
namespace {

/// Frames of Wherry's own above the call.
constexpr std::size_t own_frames = 24;

struct Walk {
  const void* site;
  std::span<const void*> callers;
  AddressRange stop;
  std::size_t passed = 0, found = 0;
  bool at_site = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (!walk.at_site) {
    walk.at_site = address == walk.site;
    return walk.at_site || ++walk.passed < own_frames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (address == nullptr || walk.stop.holds(address)) return _URC_END_OF_STACK;
  walk.callers[walk.found++] = address;
  return walk.found < walk.callers.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// That of a thread besides the main one, asked for once.
[[gnu::tls_model("initial-exec")]] constinit thread_local AddressRange own_stack;

AddressRange ask_for_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const int code = ::pthread_attr_getstack(&attributes, &begin, &bytes);
  ::pthread_attr_destroy(&attributes);
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  return code == 0 ? AddressRange{from, from + bytes} : AddressRange{};
}

/// Where the outermost frame of a coroutine returns to may be no code, and the unwinder reads there. The main thread's
/// stack has at least 128 MiB to itself.
bool is_on_threads_stack() {
  constexpr std::uintptr_t own_bytes = std::uintptr_t{128} << 20;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (::syscall(SYS_gettid) == ::getpid()) {
    if (&__libc_stack_end == nullptr) return false;
    return reinterpret_cast<std::uintptr_t>(__libc_stack_end) - here < own_bytes;
  }
  if (own_stack.end == 0) own_stack = ask_for_stack();
  return own_stack.holds(reinterpret_cast<const void*>(here));
}

}  // namespace

std::size_t callers_of(const void* site, std::span<const void*> callers, AddressRange stop) {
  if (callers.empty() || !is_on_threads_stack()) return 0;
  Walk walk{site, callers, stop};
  ::_Unwind_Backtrace(visit, &walk);
  return walk.found;
}

}  // namespace wherry::profile
