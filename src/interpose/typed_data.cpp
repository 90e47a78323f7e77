#include "interpose/typed_data.hpp"

#include <string_view>

#include "interpose/typed_blocks.hpp"
#include "interpose/typed_messages.hpp"

namespace wherry::interpose {

namespace {

constexpr std::string_view name_of(layout::Copier copier) {
  return copier == layout::Copier::kernels ? "layout kernels" : "native";
}

/// moved: a p2p::Moved, p2p::CopyResult or p2p::BlockTransfer.
template <class Moved>
void book_copier(const Call& call, const Moved& moved, layout::Offset of_types) {
  profile::Recorder& recorder = backend().record.recorder;
  if (!moved.fallback.empty()) recorder.fell_back(call.function(), moved.fallback);
  if (of_types == 0) return;
  const auto bytes = static_cast<std::uint64_t>(of_types);
  const profile::Subject subject{profile::none, call.function(), profile::bucket_of(bytes)};
  recorder.used(subject, name_of(moved.copier), bytes, call.leave_ns() - call.enter_ns());
  if (const auto& found = moved.found)
    recorder.decided(
        subject, static_cast<std::uint32_t>(found->call), name_of(found->kept), profile::Reason::kept,
        found->kept == layout::Copier::kernels ? found->kernels_ns : found->native_ns, found->native_ns);
}

}  // namespace

void book_packing(const Call& call, const p2p::Moved& moved) { book_copier(call, moved, moved.bytes); }

void book_library_copies(const Call& call, const Volume& volume) {
  if (volume.combiner == 0 || !backend().packing()) return;
  backend().record.recorder.fell_back(call.function(),
                                      "nonblocking or persistent: the library copies derived types");
}

void book_blocks(const Call& call, const p2p::BlockTransfer& transfer) {
  book_copier(call, transfer, transfer.bytes());
}

void book_copy(const Call& call, const p2p::CopyResult& result) { book_copier(call, result, result.bytes); }

}  // namespace wherry::interpose
