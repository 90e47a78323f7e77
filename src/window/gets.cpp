// Gets that one look at the common case does not answer.
#include "window/gets.hpp"

#include <algorithm>
#include <utility>

namespace wherry::window {
namespace {

constexpr std::uint64_t most_blocks = 8;  // that a get may be long to fetch blocks

std::byte* bytes_at(const Region& region) {
  return static_cast<std::byte*>(const_cast<void*>(region.address));
}

/// Bytes of a get whose target type has this map.
std::uint64_t bytes_asked(const datatype::TypeMap& map, const TargetRegion& place) {
  return static_cast<std::uint64_t>(map.size * place.count);
}

}  // namespace

Gets::Gets(WindowState& common, NativeGets& native_gets, FetchPlan& plan)
    : common_(common),
      native_gets_(native_gets),
      plan_(plan),
      by_blocks_below_(common.cache.forgets() ? 0 : most_blocks * common.options.block_bytes) {}

/// Who can serve a get, and the maps at both its ends; or why the library has to. Of a rank.
Gets::Server Gets::examine(const Region& origin, const TargetRegion& place, BothMaps& maps) {
  const auto left = [&maps](NotCached why) { return maps.why = why, Server::library; };
  Target& target = common_.operations.target(place.rank);
  if (!target.is_cached)
    return left(place.rank == common_.operations.own() ? NotCached::own_memory : NotCached::arguments);
  if (place.count <= 0 || origin.count <= 0 || place.type == MPI_DATATYPE_NULL ||
      origin.type == MPI_DATATYPE_NULL)
    return left(NotCached::arguments);
  maps = {common_.library.map(place.type), common_.library.map(origin.type)};
  const datatype::TypeMap &there = *maps.there, &here = *maps.here;
  if (there.size < 0) return left(NotCached::unknown_type);
  if (!is_inside(place, target.memory, there)) return Server::nobody;
  std::int64_t bytes_there = 0, bytes_here = 0;
  const bool counted = !__builtin_mul_overflow(there.size, std::int64_t{place.count}, &bytes_there) &&
                       !__builtin_mul_overflow(here.size, std::int64_t{origin.count}, &bytes_here);
  if (!counted || bytes_there != bytes_here || bytes_there == 0) return left(NotCached::arguments);
  if (bytes_there > most_bytes) return left(NotCached::too_long);
  if (!there.is_told(place.count) || !here.is_told(origin.count)) return left(NotCached::unknown_type);
  if (common_.cache.is_awaited(target, static_cast<std::uint64_t>(bytes_there))) return Server::uncached;
  return common_.cache.make() ? Server::cache : left(NotCached::no_memory);
}

int Gets::get_any(const Region& origin, const TargetRegion& place, float score, const Native& native) {
  if (!common_.operations.is_rank(place.rank)) return native();  // MPI_PROC_NULL, or an error
  BothMaps maps;
  const Server server = examine(origin, place, maps);
  if (server == Server::nobody) return common_.library.refuse(MPI_ERR_RMA_RANGE);
  if (server == Server::library)
    return native_gets_.expect(origin, place.rank, native_gets_.pass(maps.why, place, native));
  const std::uint64_t bytes = bytes_asked(*maps.there, place);
  if (server == Server::uncached) return native_gets_.bypass(NotCached::too_few, place.rank, bytes, native);
  if (maps.there->predefined && maps.there->dense) common_.plain = {place.type, maps.there->size};
  Target& target = common_.operations.target(place.rank);
  if (!target.cost_benefit.asks_cache()) return bypass(origin, place.rank, bytes, native);
  cache::TargetRange range;
  if (is_plain(common_, origin, place, range) && range.bytes <= by_blocks_below_)
    return get_by_blocks(target, range, bytes_at(origin), score, native);
  return get_mapped(origin, std::move(maps), place, score, native);
}

/// The library serves a get that is cheaper so.
int Gets::bypass(const Region& origin, int rank, std::uint64_t bytes, const Native& native) {
  return native_gets_.expect(origin, rank, native_gets_.bypass(NotCached::cheaper, rank, bytes, native));
}

/// Of the common case.
int Gets::get_missing(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                      cache::Answer answer, const Native& native) {
  if (answer != cache::Answer::absent) plan_.note_copies(answer, range, to);
  if (answer == cache::Answer::pending) return target.cost_benefit.hit(range.bytes), MPI_SUCCESS;
  if (answer == cache::Answer::absent) {
    if (!common_.options.coalesces && !common_.sharing.is_on()) [[likely]]
      return plan_.fetch_absent(target, range, to, score, native);
    common_.cache->ask(range, score);
  }
  plan_.clear();
  plan_.note_missing(range, to);
  if (plan_.parts().empty()) return target.cost_benefit.hit(range.bytes), common_.library.without_call();
  return plan_.fetch(static_cast<int>(range.target), range.bytes, native, plan_.asks_for_all(range.bytes));
}

/// The same, where what is missing is fetched with the blocks around it.
int Gets::get_by_blocks(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                        const Native& native) {
  WindowState& common = common_;  // which is not looked for again after each call
  const std::uint64_t size = common.options.block_bytes, first = range.displacement / size * size;
  const auto limit = static_cast<std::uint64_t>(target.memory.bytes);
  std::unique_ptr<std::byte[]> memory;
  bool waits_here = false;
  plan_.clear();
  for (std::uint64_t at = first; at < range.end(); at += size) {
    const cache::TargetRange block{range.target, at, std::min(size, limit - at)};
    const std::uint64_t begin = std::max(at, range.displacement);
    const cache::TargetRange part{range.target, begin, std::min(block.end(), range.end()) - begin};
    std::byte* const part_to = to + (begin - range.displacement);
    const cache::Answer answer = common.cache->lookup_in_block(block, part, part_to, score);
    if (answer == cache::Answer::hit) [[likely]] {
      common.overlaps.note_written(part, part_to);
      continue;
    }
    if (answer != cache::Answer::block) {
      waits_here |= plan_.note(answer, part, part_to);
      continue;
    }
    if (memory == nullptr) {
      const std::uint64_t end = std::min((range.end() + size - 1) / size * size, limit);
      memory = std::make_unique_for_overwrite<std::byte[]>(end - first);
    }
    const std::size_t before = plan_.parts().size();
    plan_.note_missing(block, memory.get() + (at - first));
    const bool node_has_it = plan_.parts().size() == before;
    if (node_has_it) common.overlaps.note_written(part, part_to);
    else common.overlaps.note_coming(part, part_to, common.operations.issued() + 1);
  }
  if (plan_.parts().empty()) {
    target.cost_benefit.hit(range.bytes);
    return waits_here ? MPI_SUCCESS : common.library.without_call();
  }
  const bool whole = memory == nullptr && plan_.asks_for_all(range.bytes);
  const int code = plan_.fetch(static_cast<int>(range.target), range.bytes, native, whole);
  // After an error too.
  if (memory != nullptr) target.blocks.push_back({common.operations.issued(), std::move(memory)});
  return code;
}

/// Of any types whose maps are known.
int Gets::get_mapped(const Region& origin, BothMaps maps, const TargetRegion& place, float score,
                     const Native& native) {
  const std::size_t bytes = bytes_asked(*maps.there, place);
  std::unique_ptr<std::byte[]> data;
  if (!maps.here->dense) data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const cache::Answer answer = look_up(place, *maps.there, maps.here->dense ? bytes_at(origin) : data.get(),
                                       [&](const cache::TargetRange& range, std::byte* to) {
                                         return common_.cache->lookup(range, to, score);
                                       });
  Target& target = common_.operations.target(place.rank);
  if (answer != cache::Answer::missing) target.cost_benefit.hit(bytes);
  if (answer == cache::Answer::hit) {
    if (data != nullptr) datatype::scatter(*maps.here, origin.count, data.get(), bytes_at(origin));
    return common_.library.without_call();
  }
  bool whole = false;
  int code = MPI_SUCCESS;
  if (answer == cache::Answer::missing) {
    whole = plan_.asks_for_all(bytes);
    code = plan_.fetch(place.rank, bytes, native, whole);
  } else if (data != nullptr) {
    common_.operations.issue(place.rank);  // what waits here must find a flush
  }
  // After an error too: parts of it may be coming.
  const std::int64_t count = code == MPI_SUCCESS ? origin.count : 0;
  if (data != nullptr)
    target.unpacks.push_back(
        {common_.operations.issued(), std::move(maps.here), count, bytes_at(origin), std::move(data), whole});
  return code;
}

/// Reads into `to`, without gaps, by look(range, to) for each block, and notes what is missing.
template <class Look>
cache::Answer Gets::look_up(const TargetRegion& place, const datatype::TypeMap& map, std::byte* to,
                            Look&& look) {
  plan_.clear();
  bool waits_here = false;
  const std::int64_t begin = place.displacement * common_.operations.target(place.rank).memory.unit;
  datatype::each_block(map, place.count, [&](std::int64_t offset, std::int64_t bytes) {
    const cache::TargetRange range{static_cast<std::uint32_t>(place.rank),
                                   static_cast<std::uint64_t>(begin + offset),
                                   static_cast<std::uint64_t>(bytes)};
    const cache::Answer answer = look(range, to);
    waits_here |= plan_.note(answer, range, to);
    to += bytes;
  });
  if (!plan_.parts().empty()) return cache::Answer::missing;
  return waits_here ? cache::Answer::pending : cache::Answer::hit;
}

int Gets::rget(const Region& origin, const TargetRegion& place, MPI_Request* request, const Native& native) {
  if (!common_.operations.is_rank(place.rank)) return native();
  BothMaps maps;
  const Server server = examine(origin, place, maps);
  if (server == Server::nobody) return common_.library.refuse(MPI_ERR_RMA_RANGE);
  // What is read in transparent mode is valid until it has come, and its request would have to wait for that.
  if (server != Server::cache || common_.cache.forgets())
    return native_gets_.pass(server == Server::library ? maps.why : NotCached::by_request, place, native);
  if (!common_.operations.target(place.rank).cost_benefit.asks_cache())
    return native_gets_.bypass(NotCached::cheaper, place.rank, bytes_asked(*maps.there, place), native);
  return rget_mapped(origin, maps, place, request, native);
}

struct Gets::MissingBlocks {
  datatype::ByteBlocks here, there;

  /// MPICH 4.0 completes a request for several blocks before they have come.
  bool is_one() const { return here.size() == 1 && there.size() == 1; }
};

/// What is missing comes by a native request, whose end nobody here sees: it is not kept.
int Gets::rget_mapped(const Region& origin, const BothMaps& maps, const TargetRegion& place,
                      MPI_Request* request, const Native& native) {
  const std::size_t bytes = bytes_asked(*maps.there, place);
  std::unique_ptr<std::byte[]> data;
  if (!maps.here->dense) data = std::make_unique<std::byte[]>(bytes);
  std::byte* const packed = maps.here->dense ? bytes_at(origin) : data.get();
  const cache::Answer answer =
      look_up(place, *maps.there, packed,
              [&](const cache::TargetRange& range, std::byte* to) { return common_.cache->peek(range, to); });
  Target& target = common_.operations.target(place.rank);
  if (answer == cache::Answer::hit) {
    if (data != nullptr) datatype::scatter(*maps.here, origin.count, packed, bytes_at(origin));
    target.cost_benefit.hit(bytes);
    return common_.library.get_nothing(bytes_at(origin), request);
  }
  MissingBlocks missing;
  if (!plan_.asks_for_all(bytes)) missing = missing_blocks(origin, *maps.here, packed);
  if (!missing.is_one()) return native_gets_.pass(NotCached::by_request, place, native);
  if (data != nullptr) datatype::scatter(*maps.here, origin.count, packed, bytes_at(origin));
  plan_.count_request(target, bytes);
  common_.operations.issue(place.rank);
  return common_.library.get_blocks(bytes_at(origin), missing.here, place.rank, target.memory.unit,
                                    missing.there, request);
}

/// packed: where what is there went to.
Gets::MissingBlocks Gets::missing_blocks(const Region& origin, const datatype::TypeMap& here,
                                         const std::byte* packed) const {
  MissingBlocks missing;
  for (const MissingPart& part : plan_.parts()) {
    const std::int64_t begin = part.to - packed, end = begin + static_cast<std::int64_t>(part.range.bytes);
    datatype::add_places(here, origin.count, begin, end, missing.here);
    datatype::add(missing.there, block_of(part.range));
  }
  return missing;
}

/// In transparent mode others may change with atomic operations what is read here, at any time.
int Gets::read_atomically(const Region& result, const TargetRegion& place, const Native& native) {
  if (!common_.cache.forgets()) return get(common_, result, place, 1, native);
  if (!common_.operations.is_rank(place.rank)) return native();
  return native_gets_.expect(result, place.rank, native_gets_.pass(NotCached::atomic, place, native));
}

}  // namespace wherry::window
