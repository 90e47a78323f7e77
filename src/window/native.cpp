#include "window/native.hpp"

#include <algorithm>

#include "base/floating_point.hpp"
#include "window/typical_time.hpp"

namespace wherry::window {
namespace {

/// Also between what are no parts of one object.
std::int64_t bytes_between(const std::byte* from, const std::byte* to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) -
                                   reinterpret_cast<std::uintptr_t>(from));
}

}  // namespace

bool is_inside(const TargetRegion& place, const TargetMemory& memory, const datatype::TypeMap& map) {
  using Wide = __int128;
  const Wide begin = Wide{place.displacement} * memory.unit;
  const Wide last = Wide{place.count - 1} * map.extent;
  const Wide low = begin + map.begin + std::min<Wide>(last, 0);
  const Wide high = begin + map.end + std::max<Wide>(last, 0);
  return map.size == 0 || (low >= 0 && high <= memory.bytes);
}

std::uint64_t bytes_of(std::span<const MissingPart> parts) {
  std::uint64_t bytes = 0;
  for (const MissingPart& part : parts) bytes += part.range.bytes;
  return bytes;
}

int run_timed(Target& target, std::uint64_t bytes, const Native& native, std::size_t gets) {
  if (!target.cost_benefit.wants_time()) return native();
  const Stopwatch watch;
  const int code = native();
  if (code != MPI_SUCCESS) return code;
  target.timed = target.issued;
  const double taken_s = watch.seconds();
  const OwnArithmetic arithmetic;
  target.timed_s = taken_s / static_cast<double>(gets);
  target.timed_bytes = static_cast<double>(bytes) / static_cast<double>(gets);
  return code;
}

int NativeWindow::refuse(int code) const {
  api_.Win_call_errhandler(win_, code);
  return code;
}

int NativeWindow::get_parts(std::span<const MissingPart> parts, std::int64_t unit) const {
  std::byte* const to = parts.front().to;
  datatype::ByteBlocks here, there;
  for (const MissingPart& part : parts) {
    const datatype::ByteBlock block = block_of(part.range);
    datatype::add(here, {bytes_between(to, part.to), block.bytes});
    datatype::add(there, block);
  }
  return get_blocks(to, here, static_cast<int>(parts.front().range.target), unit, there, nullptr);
}

int NativeWindow::get_blocks(std::byte* to, const datatype::ByteBlocks& here, int rank, std::int64_t unit,
                             const datatype::ByteBlocks& there, MPI_Request* request) const {
  const auto get = [&](void* at, int count, MPI_Datatype type, MPI_Aint displacement, int count_there,
                       MPI_Datatype type_there) {
    return request == nullptr
               ? api_.Get(at, count, type, rank, displacement, count_there, type_there, win_)
               : api_.Rget(at, count, type, rank, displacement, count_there, type_there, win_, request);
  };
  const auto [begin, bytes] = there.front();
  if (here.size() == 1 && there.size() == 1 && begin % unit == 0)
    return get(to + here.front().displacement, static_cast<int>(bytes), MPI_BYTE, begin / unit,
               static_cast<int>(bytes), MPI_BYTE);
  const datatype::BlocksType type(api_, here), type_there(api_, there);
  if (type.code() != MPI_SUCCESS) return type.code();
  if (type_there.code() != MPI_SUCCESS) return type_there.code();
  return get(to, 1, type.get(), 0, 1, type_there.get());
}

int NativeWindow::get_nothing(void* to, MPI_Request* request) const {
  return api_.Rget(to, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, win_, request);
}

void NativeWindow::make_progress() const {
  int found = 0;
  api_.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

}  // namespace wherry::window
