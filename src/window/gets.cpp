// Gets that one look at the common case does not answer.
#include <cstring>
#include <new>

#include "window/window.hpp"

namespace wherry::window {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::byte* bytes_at(const Region& region) {
  return static_cast<std::byte*>(const_cast<void*>(region.address));
}

}  // namespace

int Window::get_any(const Region& origin, const Place& place, float score, const Native& native) {
  if (!is_rank(place.rank)) return native();  // MPI_PROC_NULL, or an error
  if (!targets_[static_cast<std::size_t>(place.rank)].is_cached || place.count <= 0 || origin.count <= 0 ||
      place.type == MPI_DATATYPE_NULL || origin.type == MPI_DATATYPE_NULL)
    return pass(place.rank, native, statistics_.passed);
  const std::shared_ptr<const Shape> from = types_.shape(place.type), to = types_.shape(origin.type);
  if (from->size < 0) return pass(place.rank, native, statistics_.passed);
  if (!is_inside(place, *from)) return refuse(MPI_ERR_RMA_RANGE);
  std::int64_t there = 0, here = 0;
  const bool counted = !__builtin_mul_overflow(from->size, std::int64_t{place.count}, &there) &&
                       !__builtin_mul_overflow(to->size, std::int64_t{origin.count}, &here);
  const bool told = from->is_told(place.count) && to->is_told(origin.count);
  if (!counted || there != here || there == 0 || there > most_bytes || !told || !make_cache())
    return pass(place.rank, native, statistics_.passed);
  if (from->predefined && from->dense) {
    plain_type_ = place.type;
    plain_size_ = from->size;
  }
  if (!targets_[static_cast<std::size_t>(place.rank)].account.asks_cache())
    return pass(place.rank, native, statistics_.bypassed);
  return get_shaped(origin, to, place, *from, score, native);
}

/// Of the common case.
int Window::get_missing(Target& target, const cache::Range& range, std::byte* to, cache::Answer answer,
                        const Native& native) {
  if (answer == cache::Answer::pending) return target.account.hit(), MPI_SUCCESS;
  parts_.clear();
  note_missing(range, to);
  return fetch(static_cast<int>(range.target), native, is_missing_whole(range.bytes));
}

/// Of any types whose shape is known.
int Window::get_shaped(const Region& origin, std::shared_ptr<const Shape> to, const Place& place,
                       const Shape& from, float score, const Native& native) {
  const auto bytes = static_cast<std::size_t>(from.size * place.count);
  std::unique_ptr<std::byte[]> data;
  if (!to->dense) data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const cache::Answer answer = look_up(place, from, to->dense ? bytes_at(origin) : data.get(), score);
  Target& target = targets_[static_cast<std::size_t>(place.rank)];
  if (answer != cache::Answer::missing) target.account.hit();
  if (answer == cache::Answer::hit) {
    if (data != nullptr) scatter(*to, origin.count, data.get(), bytes_at(origin));
    return quiet();
  }
  bool whole = false;
  int code = MPI_SUCCESS;
  if (answer == cache::Answer::missing) {
    whole = is_missing_whole(bytes);
    code = fetch(place.rank, native, whole);
  } else if (data != nullptr) {
    issue(place.rank);  // what waits here must find a flush
  }
  // After an error too: parts of it may be coming.
  const std::int64_t count = code == MPI_SUCCESS ? origin.count : 0;
  if (data != nullptr)
    target.spread.push_back({issued_, std::move(to), count, bytes_at(origin), std::move(data), whole});
  return code;
}

/// Reads into `to`, without gaps, and notes what is missing.
cache::Answer Window::look_up(const Place& place, const Shape& shape, std::byte* to, float score) {
  parts_.clear();
  bool waits = false;
  const Target& target = targets_[static_cast<std::size_t>(place.rank)];
  const std::int64_t begin = place.displacement * target.segment.unit;
  each_block(shape, place.count, [&](std::int64_t offset, std::int64_t bytes) {
    const cache::Range range{static_cast<std::uint32_t>(place.rank),
                             static_cast<std::uint64_t>(begin + offset), static_cast<std::uint64_t>(bytes)};
    const cache::Answer answer = cache_->lookup(range, to, score);
    waits |= answer == cache::Answer::pending;
    if (answer == cache::Answer::missing) note_missing(range, to);
    to += bytes;
  });
  if (!parts_.empty()) return cache::Answer::missing;
  return waits ? cache::Answer::pending : cache::Answer::hit;
}

void Window::note_missing(const cache::Range& range, std::byte* to) {
  for (const cache::Missing& each : cache_->missing())
    parts_.push_back(
        {{range.target, range.displacement + each.offset, each.bytes}, to + each.offset, each.ticket});
}

/// Whether the program's own get is the best way to fetch what is missing: most of it is, or it is in many parts.
bool Window::is_missing_whole(std::uint64_t bytes) const {
  std::uint64_t missing = 0;
  for (const Part& part : parts_) missing += part.range.bytes;
  return missing == bytes || parts_.size() > most_parts;
}

/// Fetches the parts that are missing, one by one or by the program's own get.
int Window::fetch(int rank, const Native& native, bool whole) {
  Target& target = targets_[static_cast<std::size_t>(rank)];
  target.account.missed();
  if (options_.bypass) target.account.settle();
  const Number number = issue(rank);
  target.reread |= target.written > target.completed;
  int code = whole ? run(target, native) : MPI_SUCCESS;
  for (const Part& part : parts_) {
    if (!whole && code == MPI_SUCCESS) code = fetch_part(part);
    if (part.ticket == 0) continue;
    if (code == MPI_SUCCESS) target.fetched.push_back({number, part.ticket, part.to});
    else cache_->abandoned(part.ticket);
  }
  return code;
}

int Window::fetch_part(const Part& part) {
  const int rank = static_cast<int>(part.range.target), bytes = static_cast<int>(part.range.bytes);
  const auto begin = static_cast<std::int64_t>(part.range.displacement);
  const std::int64_t unit = targets_[part.range.target].segment.unit;
  if (begin % unit == 0) return api_.Get(part.to, bytes, MPI_BYTE, rank, begin / unit, bytes, MPI_BYTE, win_);
  // A displacement counts units; the rest is the type's.
  MPI_Datatype there = MPI_DATATYPE_NULL, byte = MPI_BYTE;
  const MPI_Aint offset = begin % unit;
  int code = api_.Type_create_struct(1, &bytes, &offset, &byte, &there);
  if (code == MPI_SUCCESS) code = api_.Type_commit(&there);
  if (code == MPI_SUCCESS) code = api_.Get(part.to, bytes, MPI_BYTE, rank, begin / unit, 1, there, win_);
  if (there != MPI_DATATYPE_NULL) api_.Type_free(&there);
  return code;
}

int Window::rget(const Region& origin, const Place& place, MPI_Request* request, const Native& native) {
  const Guard guard(*this);
  if (!is_rank(place.rank)) return native();
  cache::Range range;
  if (is_plain(origin, place, range)) {
    std::byte* to = bytes_at(origin);
    const bool found = cache_->read(range, [&](const std::byte* part, std::size_t bytes) {
      std::memcpy(to, part, bytes);
      to += bytes;
    });
    if (found) {
      targets_[range.target].account.hit();
      return api_.Rget(bytes_at(origin), 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, win_, request);
    }
  }
  return pass(place.rank, native, statistics_.passed);
}

/// In transparent mode others may change with atomic operations what is read here, at any time.
int Window::read_atomically(const Region& result, const Place& place, const Native& native) {
  if (options_.cache.mode != cache::Mode::transparent) return get(result, place, 1, native);
  const Guard guard(*this);
  return is_rank(place.rank) ? pass(place.rank, native, statistics_.passed) : native();
}

/// Leaves a get to the library.
int Window::pass(int rank, const Native& native, std::uint64_t& counter) {
  ++counter;
  issue(rank);
  return run(targets_[static_cast<std::size_t>(rank)], native);
}

/// Makes the library's call, and now and then takes its time.
int Window::run(Target& target, const Native& native) {
  if (!options_.bypass || !target.account.wants_time()) return native();
  const double begin = seconds();
  const int code = native();
  target.timed = issued_;
  target.timed_s = seconds() - begin;
  return code;
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

/// False: there is no memory for one.
bool Window::make_cache() {
  if (cache_ != nullptr) return true;
  if (without_memory_) return false;
  try {
    cache_ = std::make_unique<cache::Cache>(options_.cache);
  } catch (const std::bad_alloc&) {
    without_memory_ = true;
  }
  return !without_memory_;
}

void Window::make_progress() {
  int found = 0;
  api_.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

/// The completion of a get whose call was timed.
int Window::run_timed(Target& target, const Native& native) {
  const double begin = seconds();
  const int code = native();
  const Guard guard(*this);
  const auto together = static_cast<double>(issued_ - target.timed + 1);
  target.account.timed(target.timed_s + (seconds() - begin) / together);
  return code;
}

}  // namespace wherry::window
