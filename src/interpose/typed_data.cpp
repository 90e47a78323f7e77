#include "interpose/typed_data.hpp"

#include <string_view>

namespace wherry::interpose {

namespace {

constexpr std::string_view name_of(p2p::Copier copier) {
  return copier == p2p::Copier::kernels ? "layout kernels" : "native";
}

}  // namespace

void book_packing(const Call& call, const p2p::Moved& moved) {
  profile::Recorder& recorder = backend().recorder;
  if (!moved.fallback.empty()) recorder.fell_back(call.function(), moved.fallback);
  if (moved.bytes == 0) return;
  const auto bytes = static_cast<std::uint64_t>(moved.bytes);
  const profile::Subject subject{profile::none, call.function(), profile::bucket_of(bytes)};
  recorder.used(subject, name_of(moved.copier), bytes,
                call.stands_for() * (call.leave_ns() - call.enter_ns()));
  if (const auto& found = moved.found)
    recorder.decided(
        subject, static_cast<std::uint32_t>(found->call), name_of(found->kept), profile::Reason::kept,
        found->kept == p2p::Copier::kernels ? found->kernels_ns : found->native_ns, found->native_ns);
}

}  // namespace wherry::interpose
