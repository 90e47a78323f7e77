// Gets that go to the library: the program's own, or of what is missing.
#include <utility>

#include "base/floating_point.hpp"
#include "cache/coalesce.hpp"
#include "window/typical_time.hpp"
#include "window/window.hpp"

namespace wherry::window {
namespace {

/// Of whom no range is cached.
constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// Also between what are no parts of one object.
std::int64_t bytes_between(const std::byte* from, const std::byte* to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) -
                                   reinterpret_cast<std::uintptr_t>(from));
}

}  // namespace

std::uint64_t Window::bytes_of(std::span<const Part> parts) {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) bytes += part.range.bytes;
  return bytes;
}

/// Whether the program's own get is the best way to fetch what is missing: all of it is, or it is in many parts.
bool Window::asks_for_all(std::uint64_t bytes) const {
  return parts_.size() > most_parts || (bytes_of(parts_) == bytes && !options_.coalesces);
}

/// Notes that something is fetched of a target for a get of so many bytes, and gives that a number.
Number Window::begin_fetch(Target& target, int rank, std::uint64_t bytes) {
  target.account.missed(bytes);
  ++statistics_.fetched;
  target.account.settle(options_.bypass);
  target.reread |= target.written > target.completed;
  return issue(rank);
}

/// What has been asked for will come with the completion of its operation, unless that could not be started.
void Window::await(Target& target, const Part& part, Number number, int code) {
  if (code != MPI_SUCCESS) {
    if (part.ticket != 0) cache_->abandoned(part.ticket);
    return;
  }
  sharing_.expect(target, part, number);
  target.fetched.push_back({number, part.ticket, part.range, part.to});
  destinations_.expect(part.to, part.range.bytes);
}

/// Bytes of a range have been copied to there.
void Window::note_written(const cache::Range& range, const std::byte* to) {
  destinations_.hit({range, to, issued_});
  if (destinations_.is_full()) [[unlikely]]
    find_mixed();
}

/// They will be when the operations of their target up to a number have come.
void Window::note_coming(const cache::Range& range, const std::byte* to, Number last) {
  destinations_.expect_copy({range, to, last});
  if (destinations_.is_full()) [[unlikely]]
    find_mixed();
}

/// The one or the other, or neither, as the cache has answered.
void Window::note_answer(cache::Answer answer, const cache::Range& range, const std::byte* to) {
  if (waits(answer)) return note_coming(range, to, targets_[range.target].issued);
  const bool nothing = answer == cache::Answer::missing && cache_->missing().front().bytes == range.bytes;
  if (!nothing) note_written(range, to);
}

/// The common case: all of a get, by the program's own. That begins first: room for the data is made while they are
/// coming.
int Window::fetch_absent(Target& target, const cache::Range& range, std::byte* to, float score,
                         const Native& native) {
  const Number number = begin_fetch(target, static_cast<int>(range.target), range.bytes);
  const int code = run(target, range.bytes, native);
  // After an error, too, which is as rare as an entry that makes room for nothing.
  cache_->ask(range, score);
  await(target, {range, to, cache_->missing().front().ticket}, number, code);
  return code;
}

/// Fetches the parts that are missing of a get of so many bytes, by the program's own if `all`.
int Window::fetch(int rank, std::uint64_t bytes, const Native& native, bool all) {
  Target& target = targets_[static_cast<std::size_t>(rank)];
  const Number number = begin_fetch(target, rank, bytes);
  int code = MPI_SUCCESS;
  if (all) code = run(target, bytes, native);
  else if (options_.coalesces) target.held.insert(target.held.end(), parts_.begin(), parts_.end());
  else code = run(target, bytes_of(parts_), [&] { return fetch_parts(parts_); });
  for (const Part& part : parts_) await(target, part, number, code);
  return code;
}

/// Of one target, by one get.
int Window::fetch_parts(std::span<const Part> parts) {
  std::byte* const to = parts.front().to;
  Blocks here, there;
  for (const Part& part : parts) {
    const Block block = block_of(part.range);
    add(here, {bytes_between(to, part.to), block.bytes});
    add(there, block);
  }
  return get_blocks(to, here, static_cast<int>(parts.front().range.target), there, nullptr);
}

/// One get of these bytes of a target's memory, to bytes at and after `to`. request: nullptr if there is to be none.
int Window::get_blocks(std::byte* to, const Blocks& here, int rank, const Blocks& there,
                       MPI_Request* request) {
  const auto get = [&](void* at, int count, MPI_Datatype type, MPI_Aint displacement, int count_there,
                       MPI_Datatype type_there) {
    return request == nullptr
               ? api_.Get(at, count, type, rank, displacement, count_there, type_there, win_)
               : api_.Rget(at, count, type, rank, displacement, count_there, type_there, win_, request);
  };
  const std::int64_t unit = targets_[static_cast<std::size_t>(rank)].segment.unit;
  const auto [begin, bytes] = there.front();
  if (here.size() == 1 && there.size() == 1 && begin % unit == 0)
    return get(to + here.front().offset, static_cast<int>(bytes), MPI_BYTE, begin / unit,
               static_cast<int>(bytes), MPI_BYTE);
  const BlocksType type(api_, here), type_there(api_, there);
  if (type.code() != MPI_SUCCESS) return type.code();
  if (type_there.code() != MPI_SUCCESS) return type_there.code();
  return get(to, 1, type.get(), 0, 1, type_there.get());
}

/// Asks for what was held back. If that fails, so must the completion that follows.
int Window::send_held(Target& target) {
  const std::vector<Part> held = std::exchange(target.held, {});
  return run(target, bytes_of(held), [&] { return send_joined(held); }, held.size());
}

/// With one get for what is adjacent.
int Window::send_joined(std::span<const Part> held) {
  std::vector<cache::Wanted> wanted;
  for (const Part& part : held) wanted.push_back({part.range, wanted.size()});
  int code = MPI_SUCCESS;
  const auto send = [&](std::span<const Part> parts) {
    if (code == MPI_SUCCESS) code = fetch_parts(parts);
  };
  for (const cache::Joined& joined : cache::coalesce(wanted)) {
    std::vector<Part> parts;
    std::uint64_t bytes = 0;
    for (std::size_t i = joined.first; i < joined.first + joined.count; ++i) {
      parts.push_back(held[wanted[i].number]);
      bytes += parts.back().range.bytes;
    }
    // What overlaps was asked for several times, and goes to several places.
    if (bytes == joined.range.bytes && bytes <= most_bytes) send(parts);
    else
      for (const Part& part : parts) send({&part, 1});
  }
  return code;
}

/// Who waits for what comes to a place where others write, too, asks for it himself.
int Window::serve_waiters(const Target& target) {
  int code = MPI_SUCCESS;
  for (const Fetched& each : target.fetched) {
    if (!each.aliased || each.ticket == 0) continue;
    cache_->release(each.ticket, [&](std::uint64_t skip, std::uint64_t bytes, std::byte* to) {
      const Part part{{each.range.target, each.range.displacement + skip, bytes}, to, 0};
      if (code == MPI_SUCCESS) code = fetch_parts({&part, 1});
    });
  }
  return code;
}

/// Asks for what the completion that follows is to bring and nobody has asked for.
int Window::send_rest(int rank) {
  if (!is_rank(rank)) return MPI_SUCCESS;
  Target& target = targets_[static_cast<std::size_t>(rank)];
  const int code = target.held.empty() ? MPI_SUCCESS : send_held(target);
  return code == MPI_SUCCESS && destinations_.any_aliased() ? serve_waiters(target) : code;
}

int Window::send_all_rest() {
  int code = MPI_SUCCESS;
  for (const int rank : open_)
    if (const int sent = send_rest(rank); sent != MPI_SUCCESS) code = sent;
  return code;
}

/// Of a get that the library serves. What is looked at of its type is remembered if it stays valid.
std::uint64_t Window::bytes_of(const Place& place) {
  if (place.count <= 0 || place.type == MPI_DATATYPE_NULL) return 0;
  std::int64_t size = passed_size_, bytes = 0;
  if (place.type != passed_type_) {
    const std::shared_ptr<const Shape> shape = types_.shape(place.type);
    size = std::max<std::int64_t>(shape->size, 0);
    if (shape->predefined) passed_type_ = place.type, passed_size_ = size;
  }
  return __builtin_mul_overflow(size, std::int64_t{place.count}, &bytes) ? 0
                                                                         : static_cast<std::uint64_t>(bytes);
}

/// Leaves a get to the library that cannot be cached.
int Window::pass(NotCached why, const Place& place, const Native& native) {
  ++statistics_.passed;
  left_out(why).add(bytes_of(place));
  track(place.rank);
  return native();
}

/// Leaves a get to the library that is cheaper without the cache.
int Window::bypass(NotCached why, int rank, std::uint64_t bytes, const Native& native) {
  ++statistics_.bypassed;
  left_out(why).add(bytes);
  issue(rank);
  return run(targets_[static_cast<std::size_t>(rank)], bytes, native);
}

/// The same of a get of a window that has no cache yet, or one that rests. Types are not looked at.
int Window::get_untracked(const Place& place, const Native& native) {
  ++statistics_.bypassed;
  const bool is_known = place.type == plain_type_ && place.count > 0;
  left_out(cache_ == nullptr ? NotCached::too_few : NotCached::cheaper)
      .add(is_known ? static_cast<std::uint64_t>(place.count * plain_size_) : 0);
  track(place.rank);
  return native();
}

/// By the get that was issued last, if its call went well, the library will write to the origin, whatever it reads. Not
/// for gets with a request: nobody here sees when these are over. Returns the call's code.
int Window::expect_librarys(const Region& origin, int rank, int code) {
  if (code != MPI_SUCCESS || (forgets() && caches_nothing()) || origin.count <= 0 ||
      origin.type == MPI_DATATYPE_NULL)
    return code;
  std::int64_t size = plain_size_;
  if (origin.type != plain_type_) {
    const std::shared_ptr<const Shape> shape = types_.shape(origin.type);
    size = shape->dense ? shape->size : 0;
  }
  const cache::Range range{nobody, 0, static_cast<std::uint64_t>(size * origin.count)};
  if (range.bytes == 0) return code;
  const auto* const to = static_cast<const std::byte*>(origin.address);
  if (forgets() && !destinations_.may_touch(to, range.bytes)) return code;
  Target& target = targets_[static_cast<std::size_t>(rank)];
  target.fetched.push_back({target.issued, 0, range, to});
  destinations_.expect(to, range.bytes);
  return code;
}

/// Makes the library's call for some gets of a target, the last of which is the last that was issued to it, and now and
/// then takes its time. bytes: what they bring in all.
int Window::run(Target& target, std::uint64_t bytes, const Native& native, std::size_t gets) {
  if (!target.account.wants_time()) return native();
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

void Window::make_progress() {
  int found = 0;
  api_.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

}  // namespace wherry::window
