#include "window/writes.hpp"

#include <algorithm>
#include <vector>

namespace wherry::window {
namespace {

constexpr std::size_t most_writes = 4096;  // that are told apart, at one target

}  // namespace

int Writes::put(const Region& origin, const TargetRegion& place, const Native& native) {
  if (!common_.operations.is_rank(place.rank)) return native();
  if (common_.cache.is_untracked()) return common_.cache.note_untracked(), native();
  Target& target = common_.operations.target(place.rank);
  target.written = common_.operations.issue(place.rank);
  if (!target.is_cached || place.count <= 0 || origin.count <= 0 || place.type == MPI_DATATYPE_NULL ||
      origin.type == MPI_DATATYPE_NULL)
    return native();
  const std::shared_ptr<const datatype::TypeMap> there = common_.library.map(place.type),
                                                 here = common_.library.map(origin.type);
  if (!is_inside(place, target.memory, *there)) return common_.library.refuse(MPI_ERR_RMA_RANGE);
  const int code = native();
  const bool known = code == MPI_SUCCESS && here->is_told(origin.count) &&
                     here->size * origin.count == there->size * place.count;
  std::vector<std::byte> gathered;
  const auto* data = static_cast<const std::byte*>(origin.address);
  if (known && !here->dense) {
    gathered.resize(static_cast<std::size_t>(here->size * origin.count));
    datatype::gather(*here, origin.count, origin.address, gathered.data());
    data = gathered.data();
  }
  note_write(place, *there, known ? data : nullptr);
  return code;
}

int Writes::change(const TargetRegion& place, const Native& native) {
  if (!common_.operations.is_rank(place.rank)) return native();
  if (common_.cache.is_untracked()) return common_.cache.note_untracked(), native();
  Target& target = common_.operations.target(place.rank);
  target.written = common_.operations.issue(place.rank);
  if (!target.is_cached || place.count <= 0 || place.type == MPI_DATATYPE_NULL) return native();
  const std::shared_ptr<const datatype::TypeMap> map = common_.library.map(place.type);
  if (!is_inside(place, target.memory, *map)) return common_.library.refuse(MPI_ERR_RMA_RANGE);
  const int code = native();
  note_write(place, *map, nullptr);
  return code;
}

/// data: what is written, without gaps; nullptr if nobody knows.
void Writes::note_write(const TargetRegion& place, const datatype::TypeMap& map, const std::byte* data) {
  Target& target = common_.operations.target(place.rank);
  if (map.size == 0) return;
  const std::int64_t begin = place.displacement * target.memory.unit;
  const auto note = [&](std::int64_t offset, std::int64_t bytes) {
    note_range(target,
               {static_cast<std::uint32_t>(place.rank), static_cast<std::uint64_t>(begin + offset),
                static_cast<std::uint64_t>(bytes)},
               data);
    if (data != nullptr) data += bytes;
  };
  if (map.is_told(place.count)) return datatype::each_block(map, place.count, note);
  // All that lies between its first byte and its last.
  const std::int64_t last = (place.count - 1) * map.extent;
  const std::int64_t low = map.begin + std::min<std::int64_t>(last, 0);
  data = nullptr;
  note(low, map.end + std::max<std::int64_t>(last, 0) - low);
}

void Writes::note_range(Target& target, const cache::TargetRange& range, const std::byte* data) {
  if (common_.cache.get() != nullptr) common_.cache->written(range, data);
  // What a transparent window reads ends when it has come.
  if (common_.cache.forgets()) return;
  if (target.writes.size() < most_writes) return target.writes.push_back({target.issued, range});
  target.writes.assign(1,
                       {target.issued, {range.target, 0, static_cast<std::uint64_t>(target.memory.bytes)}});
}

void Writes::complete(Target& target, SequenceNumber last) {
  if (target.written <= target.completed) return;
  common_.sharing.note_write(target);
  const auto end = end_of(target.writes, last);
  if (target.reread && common_.cache.get() != nullptr)
    for (auto each = target.writes.begin(); each != end; ++each) common_.cache->written(each->range);
  target.writes.erase(target.writes.begin(), end);
  target.reread &= target.written > last;
}

}  // namespace wherry::window
