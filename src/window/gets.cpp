// Gets that one look at the common case does not answer.
#include <algorithm>
#include <new>

#include "window/window.hpp"

namespace wherry::window {
namespace {

std::byte* bytes_at(const Region& region) {
  return static_cast<std::byte*>(const_cast<void*>(region.address));
}

/// What a get of a known shape brings.
std::uint64_t bytes_asked(const Shape& shape, const Place& place) {
  return static_cast<std::uint64_t>(shape.size * place.count);
}

}  // namespace

/// Who can serve a get, and the shapes at both its ends; or why the library has to. Of a rank.
Window::Server Window::examine(const Region& origin, const Place& place, Shapes& shapes) {
  const auto left = [&shapes](NotCached why) { return shapes.why = why, Server::library; };
  Target& target = targets_[static_cast<std::size_t>(place.rank)];
  if (!target.is_cached) return left(place.rank == own_ ? NotCached::own_memory : NotCached::arguments);
  if (place.count <= 0 || origin.count <= 0 || place.type == MPI_DATATYPE_NULL ||
      origin.type == MPI_DATATYPE_NULL)
    return left(NotCached::arguments);
  shapes = {types_.shape(place.type), types_.shape(origin.type)};
  const Shape &there = *shapes.there, &here = *shapes.here;
  if (there.size < 0) return left(NotCached::unknown_type);
  if (!is_inside(place, there)) return Server::nobody;
  std::int64_t bytes_there = 0, bytes_here = 0;
  const bool counted = !__builtin_mul_overflow(there.size, std::int64_t{place.count}, &bytes_there) &&
                       !__builtin_mul_overflow(here.size, std::int64_t{origin.count}, &bytes_here);
  if (!counted || bytes_there != bytes_here || bytes_there == 0) return left(NotCached::arguments);
  if (bytes_there > most_bytes) return left(NotCached::too_long);
  if (!there.is_told(place.count) || !here.is_told(origin.count)) return left(NotCached::unknown_type);
  if (waits_for_cache(target, static_cast<std::uint64_t>(bytes_there))) return Server::uncached;
  return make_cache() ? Server::cache : left(NotCached::no_memory);
}

int Window::get_any(const Region& origin, const Place& place, float score, const Native& native) {
  if (!is_rank(place.rank)) return native();  // MPI_PROC_NULL, or an error
  Shapes shapes;
  const Server server = examine(origin, place, shapes);
  if (server == Server::nobody) return refuse(MPI_ERR_RMA_RANGE);
  if (server == Server::library) return expect_librarys(origin, place.rank, pass(shapes.why, place, native));
  if (server == Server::uncached)
    return bypass(NotCached::too_few, place.rank, bytes_asked(*shapes.there, place), native);
  if (shapes.there->predefined && shapes.there->dense) {
    plain_type_ = place.type;
    plain_size_ = shapes.there->size;
  }
  Target& target = targets_[static_cast<std::size_t>(place.rank)];
  if (!target.account.asks_cache())
    return expect_librarys(origin, place.rank,
                           bypass(NotCached::cheaper, place.rank, bytes_asked(*shapes.there, place), native));
  cache::Range range;
  if (is_plain(origin, place, range) && range.bytes <= by_blocks_below_)
    return get_by_blocks(target, range, bytes_at(origin), score, native);
  return get_shaped(origin, std::move(shapes), place, score, native);
}

/// Of the common case.
int Window::get_missing(Target& target, const cache::Range& range, std::byte* to, float score,
                        cache::Answer answer, const Native& native) {
  if (answer != cache::Answer::absent) note_answer(answer, range, to);
  if (answer == cache::Answer::pending) return target.account.hit(range.bytes), MPI_SUCCESS;
  if (answer == cache::Answer::absent) {
    if (!options_.coalesces && !sharing_.is_on()) [[likely]]
      return fetch_absent(target, range, to, score, native);
    cache_->ask(range, score);
  }
  parts_.clear();
  note_missing(range, to);
  if (parts_.empty()) return target.account.hit(range.bytes), without_call();
  return fetch(static_cast<int>(range.target), range.bytes, native, asks_for_all(range.bytes));
}

/// The same, where what is missing is fetched with the blocks around it.
int Window::get_by_blocks(Target& target, const cache::Range& range, std::byte* to, float score,
                          const Native& native) {
  const std::uint64_t size = options_.block_bytes, first = range.displacement / size * size;
  const std::uint64_t end =
      std::min((range.end() + size - 1) / size * size, static_cast<std::uint64_t>(target.segment.bytes));
  std::unique_ptr<std::byte[]> memory;
  bool waits_here = false;
  parts_.clear();
  for (std::uint64_t at = first; at < end; at += size) {
    const cache::Range block{range.target, at, std::min(size, end - at)};
    const std::uint64_t begin = std::max(at, range.displacement);
    const cache::Range part{range.target, begin, std::min(block.end(), range.end()) - begin};
    std::byte* const part_to = to + (begin - range.displacement);
    const cache::Answer answer = cache_->lookup_in_block(block, part, part_to, score);
    if (answer == cache::Answer::block) {
      if (memory == nullptr) memory = std::make_unique_for_overwrite<std::byte[]>(end - first);
      const std::size_t before = parts_.size();
      note_missing(block, memory.get() + (at - first));
      if (parts_.size() == before) note_written(part, part_to);  // the node has it
      else note_coming(part, part_to, issued_ + 1);
      continue;
    }
    note_answer(answer, part, part_to);
    waits_here |= waits(answer);
    if (answer == cache::Answer::missing) note_missing(part, part_to);
  }
  if (parts_.empty()) return target.account.hit(range.bytes), waits_here ? MPI_SUCCESS : without_call();
  const bool whole = memory == nullptr && asks_for_all(range.bytes);
  const int code = fetch(static_cast<int>(range.target), range.bytes, native, whole);
  if (memory != nullptr) target.blocks.push_back({issued_, std::move(memory)});  // after an error too
  return code;
}

/// Of any types whose shape is known.
int Window::get_shaped(const Region& origin, Shapes shapes, const Place& place, float score,
                       const Native& native) {
  const std::size_t bytes = bytes_asked(*shapes.there, place);
  std::unique_ptr<std::byte[]> data;
  if (!shapes.here->dense) data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const cache::Answer answer =
      look_up(place, *shapes.there, shapes.here->dense ? bytes_at(origin) : data.get(),
              [&](const cache::Range& range, std::byte* to) { return cache_->lookup(range, to, score); });
  Target& target = targets_[static_cast<std::size_t>(place.rank)];
  if (answer != cache::Answer::missing) target.account.hit(bytes);
  if (answer == cache::Answer::hit) {
    if (data != nullptr) scatter(*shapes.here, origin.count, data.get(), bytes_at(origin));
    return without_call();
  }
  bool whole = false;
  int code = MPI_SUCCESS;
  if (answer == cache::Answer::missing) {
    whole = asks_for_all(bytes);
    code = fetch(place.rank, bytes, native, whole);
  } else if (data != nullptr) {
    issue(place.rank);  // what waits here must find a flush
  }
  // After an error too: parts of it may be coming.
  const std::int64_t count = code == MPI_SUCCESS ? origin.count : 0;
  if (data != nullptr)
    target.spread.push_back(
        {issued_, std::move(shapes.here), count, bytes_at(origin), std::move(data), whole});
  return code;
}

/// Reads into `to`, without gaps, by look(range, to) for each block, and notes what is missing.
template <class Look>
cache::Answer Window::look_up(const Place& place, const Shape& shape, std::byte* to, Look&& look) {
  parts_.clear();
  bool waits_here = false;
  const Target& target = targets_[static_cast<std::size_t>(place.rank)];
  const std::int64_t begin = place.displacement * target.segment.unit;
  each_block(shape, place.count, [&](std::int64_t offset, std::int64_t bytes) {
    const cache::Range range{static_cast<std::uint32_t>(place.rank),
                             static_cast<std::uint64_t>(begin + offset), static_cast<std::uint64_t>(bytes)};
    const cache::Answer answer = look(range, to);
    note_answer(answer, range, to);
    waits_here |= waits(answer);
    if (answer == cache::Answer::missing) note_missing(range, to);
    to += bytes;
  });
  if (!parts_.empty()) return cache::Answer::missing;
  return waits_here ? cache::Answer::pending : cache::Answer::hit;
}

/// What must be fetched of the last lookup, for nobody on the node has it.
void Window::note_missing(const cache::Range& range, std::byte* to) {
  for (const cache::Missing& each : cache_->missing()) {
    const Part part{
        {range.target, range.displacement + each.offset, each.bytes}, to + each.offset, each.ticket};
    if (!found_on_node(part)) parts_.push_back(part);
  }
}

/// Then it is in its place, and in this rank's own cache.
bool Window::found_on_node(const Part& part) {
  if (!sharing_.finds(targets_[part.range.target], part)) return false;
  note_written(part.range, part.to);
  if (part.ticket != 0) cache_->filled(part.ticket, part.to);
  return true;
}

int Window::rget(const Region& origin, const Place& place, MPI_Request* request, const Native& native) {
  const Guard guard(*this);
  if (!is_rank(place.rank)) return native();
  Shapes shapes;
  const Server server = examine(origin, place, shapes);
  if (server == Server::nobody) return refuse(MPI_ERR_RMA_RANGE);
  // What is read in transparent mode is valid until it has come, and its request would have to wait for that.
  if (server != Server::cache || forgets())
    return pass(server == Server::library ? shapes.why : NotCached::by_request, place, native);
  Target& target = targets_[static_cast<std::size_t>(place.rank)];
  if (!target.account.asks_cache())
    return bypass(NotCached::cheaper, place.rank, bytes_asked(*shapes.there, place), native);
  return rget_shaped(origin, shapes, place, request, native);
}

/// What is missing comes by a request of the library's, whose end nobody here sees: it is not kept.
int Window::rget_shaped(const Region& origin, const Shapes& shapes, const Place& place, MPI_Request* request,
                        const Native& native) {
  const std::size_t bytes = bytes_asked(*shapes.there, place);
  std::unique_ptr<std::byte[]> data;
  if (!shapes.here->dense) data = std::make_unique<std::byte[]>(bytes);
  std::byte* const packed = shapes.here->dense ? bytes_at(origin) : data.get();
  const cache::Answer answer =
      look_up(place, *shapes.there, packed,
              [&](const cache::Range& range, std::byte* to) { return cache_->peek(range, to); });
  if (answer != cache::Answer::hit && asks_for_all(bytes)) return pass(NotCached::by_request, place, native);
  if (data != nullptr) scatter(*shapes.here, origin.count, packed, bytes_at(origin));
  Account& account = targets_[static_cast<std::size_t>(place.rank)].account;
  if (answer == cache::Answer::hit) {
    account.hit(bytes);
    return api_.Rget(bytes_at(origin), 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, win_, request);
  }
  account.missed(bytes);
  ++statistics_.fetched;
  Blocks here, there;
  for (const Part& part : parts_) {
    const std::int64_t begin = part.to - packed, end = begin + static_cast<std::int64_t>(part.range.bytes);
    add_places(*shapes.here, origin.count, begin, end, here);
    add(there, block_of(part.range));
  }
  issue(place.rank);
  return get_blocks(bytes_at(origin), here, place.rank, there, request);
}

/// In transparent mode others may change with atomic operations what is read here, at any time.
int Window::read_atomically(const Region& result, const Place& place, const Native& native) {
  if (options_.cache.mode != cache::Mode::transparent) return get(result, place, 1, native);
  const Guard guard(*this);
  return is_rank(place.rank) ? expect_librarys(result, place.rank, pass(NotCached::atomic, place, native))
                             : native();
}

/// Whether all that is asked for is the target's memory in the window.
bool Window::is_inside(const Place& place, const Shape& shape) const {
  using Wide = __int128;
  const Segment& segment = targets_[static_cast<std::size_t>(place.rank)].segment;
  const Wide begin = Wide{place.displacement} * segment.unit;
  const Wide last = Wide{place.count - 1} * shape.extent;
  const Wide low = begin + shape.begin + std::min<Wide>(last, 0);
  const Wide high = begin + shape.end + std::max<Wide>(last, 0);
  return shape.size == 0 || (low >= 0 && high <= segment.bytes);
}

int Window::refuse(int code) {
  api_.Win_call_errhandler(win_, code);
  return code;
}

/// Where a get may go to the library and nobody has to know where it writes to.
bool Window::waits_for_cache(Target& target, std::uint64_t bytes) {
  if (cache_ != nullptr || without_memory_ || !options_.bypass || !forgets() || sharing_.is_on())
    return false;
  const bool is_due = computed([&] {
    due_.made(1 + target.account.skip_lookups(),
              target.account.plain_s() * times_as_long(static_cast<double>(bytes)));
    return due_.is_due();
  });
  if (!is_due) return true;
  for (Target& each : targets_) each.account.end_skipping();
  return false;
}

/// After a completion, when nothing that a cache of transparent mode holds is valid. Once many gets went to the library
/// without asking it and none is awaited, nothing is tracked until a target asks again: tracking costs as much as a get
/// in shared memory. Not after each few gets, since all targets are gone through when that ends.
void Window::rest() {
  if (!may_be_untracked_ || is_resting_ || cache_ == nullptr || sharing_.is_on()) return;
  const std::uint64_t bypassed = statistics_.bypassed;
  if (bypassed < rests_at_) return;
  is_resting_ = rests_at_ != 0 && std::ranges::all_of(open_, [this](int rank) {
                  return targets_[static_cast<std::size_t>(rank)].awaits_nothing();
                });
  rests_at_ = bypassed + least_bypassed + targets_.size();
}

/// A target asks the cache again.
void Window::wake() {
  is_resting_ = false;
  end_reading();  // epochs have ended meanwhile
  rests_at_ = statistics_.bypassed + least_bypassed + targets_.size();
  suspect_operations();
}

/// Any target may have gets and writes under way that were not tracked.
void Window::suspect_operations() {
  for (std::size_t rank = 0; rank < targets_.size(); ++rank)
    targets_[rank].written = issue(static_cast<int>(rank));
}

/// False: there is no memory for one.
bool Window::make_cache() {
  if (cache_ != nullptr) return true;
  if (without_memory_) return false;
  try {
    open_.reserve(targets_.size());
    cache_ = std::make_unique<cache::Cache>(options_.cache);
    if (may_be_untracked_) suspect_operations();
  } catch (const std::bad_alloc&) {
    without_memory_ = true;
  }
  return !without_memory_;
}

}  // namespace wherry::window
