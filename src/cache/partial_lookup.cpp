// Lookups that one probe of the index does not answer.
#include <algorithm>

#include "base/error.hpp"
#include "base/floating_point.hpp"
#include "cache/cache.hpp"
#include "cache/memory.hpp"

namespace wherry::cache {
namespace {

constexpr std::size_t most_prefetched =
    2048;  // bytes: more lines than this a processor does not have under way

TargetRange intersection(const TargetRange& a, const TargetRange& b) {
  const std::uint64_t begin = std::max(a.displacement, b.displacement);
  return {a.target, begin, std::min(a.end(), b.end()) - begin};
}

}  // namespace

Answer Cache::find_parts(const TargetRange& range, std::uint64_t own, std::byte* destination, float score) {
  const OwnArithmetic arithmetic;
  missing_.clear();
  if (range.bytes == 0) return ++statistics_.full_hits, Answer::hit;
  require(range.end() >= range.displacement,
          "a range ends behind the last displacement there is; make it shorter");
  if (inside_)
    if (Entry* const larger = covering(range)) return copy_hit(*larger, range, destination), Answer::hit;
  // All of these will be needed if it is a miss, and none waits for another.
  history_.prefetch(own);
  if (coarse_.size() > 0) coarse_.prefetch(range);
  collect(range);
  if (found_.empty()) return inside_ = waits_ = false, Answer::absent;
  waits_ = take_found(range, destination);
  inside_ = found_.size() == 1 && gaps_.empty();
  const bool mergeable = can_merge(range);
  if (mergeable) merge(range, destination, score);
  else fetch_gaps(range, score);
  count_found(range, waits_);
  return !missing_.empty() ? Answer::missing : waits_ ? Answer::pending : Answer::hit;
}

Answer Cache::lookup_in_block(const TargetRange& block, const TargetRange& range, std::byte* destination,
                              float score) {
  if (policy_.reference()) next_tick();
  const std::uint64_t own = hash(block);
  follow(block, own);
  // Not in the default environment, which takes a third of a hit's time: see there.
  if (Entry* const whole = find(block, own)) return copy_hit(*whole, range, destination), Answer::hit;
  const OwnArithmetic arithmetic;
  collect(block);
  if (found_.empty() && ask_for_block(block, own, range, destination, score)) return Answer::block;
  return asked(find_hit(range, hash(range), destination, score), range, score);
}

bool Cache::ask_for_block(const TargetRange& block, std::uint64_t own, const TargetRange& range,
                          std::byte* destination, float score) {
  const History::Row* const row = history_.find(own);
  const Cause cause = History::cause_of(row, epoch_.generation());
  const Ref whole = admit(block, own, policy_.heat_of(row), score);
  if (whole == 0) return false;
  ++statistics_.misses[static_cast<std::size_t>(cause)];
  inside_ = waits_ = false;
  missing_.clear();
  ask_for(block, block, whole);
  statistics_.bytes_ahead += block.bytes - range.bytes;
  fetches_.wait(missing_.front().ticket, range.displacement - block.displacement, range.bytes, destination);
  return true;
}

Answer Cache::peek(const TargetRange& range, std::byte* destination) {
  const OwnArithmetic arithmetic;
  if (policy_.reference()) next_tick();
  follow(range, hash(range));
  missing_.clear();
  require(range.end() >= range.displacement,
          "a range ends behind the last displacement there is; make it shorter");
  collect(range);
  std::erase_if(found_, [&](Ref ref) { return !entry(ref).valid(); });
  waits_ = take_found(range, destination);  // false: all of it is valid
  if (!found_.empty()) count_found(range, false);
  for (const TargetRange& gap : gaps_) ask_for(range, gap, 0);
  return missing_.empty() ? Answer::hit : Answer::missing;
}

/// Of a lookup that found something.
void Cache::count_found(const TargetRange& range, bool waits) {
  ++(!gaps_.empty() ? statistics_.partial_hits : waits ? statistics_.pending_hits : statistics_.full_hits);
  statistics_.bytes_saved += range.bytes;
  for (const TargetRange& gap : gaps_) statistics_.bytes_saved -= gap.bytes;
}

/// The valid entry that holds all of the range, or nullptr.
Entry* Cache::covering(const TargetRange& range) const {
  Ref found = 0;
  const auto note = [&](Ref ref, std::uint64_t) { found = ref; };
  const TargetRange first{range.target, range.displacement, 1};
  fine_.visit(first, note);
  if (found == 0) coarse_.visit(first, note);
  if (found == 0) return nullptr;
  Entry& holder = entry(found);
  return holder.valid() && holder.end() >= range.end() ? &holder : nullptr;
}

void Cache::ask(const TargetRange& range, float score) {
  const OwnArithmetic arithmetic;
  missing_.clear();
  const std::uint64_t own = hash(range);
  const History::Row* const row = history_.find(own);
  ++statistics_.misses[static_cast<std::size_t>(History::cause_of(row, epoch_.generation()))];
  const Ref made = admit(range, own, policy_.heat_of(row), score);
  ask_for(range, range, made);
  // The lines are written only when the data have come, and can be fetched meanwhile.
  if (made != 0)
    storage_.each_part(made, Entry::head, std::min<std::size_t>(range.bytes, most_prefetched),
                       prefetch_lines);
}

/// Finds the entries that touch a range, in order of displacement. They do not overlap each other.
void Cache::collect(const TargetRange& range) {
  found_.clear();
  const auto note = [&](Ref ref, std::uint64_t page_begin) {
    // An entry on several pages is noted on the first that it shares with the range.
    if (entry(ref).displacement < page_begin && range.displacement < page_begin) return;
    found_.push_back(ref);
  };
  fine_.visit(range, note);
  coarse_.visit(range, note);
  if (found_.size() < 2) return;
  std::sort(found_.begin(), found_.end(),
            [&](Ref a, Ref b) { return entry(a).displacement < entry(b).displacement; });
}

/// Copies what is there, has what is under way copied when it comes, and notes the gaps. Returns whether
/// anything is under way.
bool Cache::take_found(const TargetRange& range, std::byte* destination) {
  gaps_.clear();
  bool waits = false;
  std::uint64_t at = range.displacement;
  for (const Ref ref : found_) {
    Entry& hit = entry(ref);
    if (hit.displacement > at) gaps_.push_back({range.target, at, hit.displacement - at});
    const TargetRange part = intersection(range, hit.range());
    std::byte* const to = destination + (part.displacement - range.displacement);
    policy_.touch(hit);
    waits |= take_part(hit, part, to);
    at = part.end();
  }
  if (at < range.end()) gaps_.push_back({range.target, at, range.end() - at});
  return waits;
}

/// Copies what is there, and has copied what is under way when it comes; until then its place is left alone, for it may
/// be where it comes to. Returns whether there is any.
bool Cache::take_part(Entry& entry, const TargetRange& part, std::byte* destination) {
  const auto copy = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin < end)
      copy_out(entry, begin - entry.displacement, end - begin, destination + (begin - part.displacement));
  };
  wait_for(entry, part, destination);
  std::uint64_t at = part.displacement;
  for (const TargetRange& coming : coming_) {
    copy(at, coming.displacement);
    at = coming.end();
  }
  copy(at, part.end());
  return !coming_.empty();
}

/// Has those bytes of the part that are under way copied when they come, and notes which these are, in order.
void Cache::wait_for(Entry& entry, const TargetRange& part, std::byte* destination) {
  coming_.clear();
  for (Ticket ticket = entry.flight; ticket != 0; ticket = fetches_[ticket].next) {
    const Fetch& fetch = fetches_[ticket];
    const TargetRange coming{part.target, entry.displacement + fetch.offset, fetch.bytes};
    if (coming.displacement >= part.end() || part.displacement >= coming.end()) continue;
    const TargetRange both = intersection(part, coming);
    fetches_.wait(ticket, both.displacement - coming.displacement, both.bytes,
                  destination + (both.displacement - part.displacement));
    coming_.push_back(both);
  }
  std::ranges::sort(coming_, {}, &TargetRange::displacement);
}

void Cache::fetch_gaps(const TargetRange& range, float score) {
  for (const TargetRange& gap : gaps_) {
    const std::uint64_t own = hash(gap);
    ask_for(range, gap, admit(gap, own, policy_.heat_of(history_.find(own)), score));
  }
}

/// Whether one entry may take the place of all that were found, so that next time one probe will do.
bool Cache::can_merge(const TargetRange& range) const {
  if (gaps_.empty() && found_.size() < 2) return false;
  if (range.bytes + Entry::head > storage_.bytes() / 4) return false;
  return std::all_of(found_.begin(), found_.end(), [&](Ref ref) {
    const Entry& each = entry(ref);
    return each.valid() && each.displacement >= range.displacement && each.end() <= range.end();
  });
}

/// Makes one entry of the range; what was cached of it is in the destination.
void Cache::merge(const TargetRange& range, const std::byte* destination, float score) {
  float heat = 0;
  for (const Ref ref : found_) {
    heat = std::max(heat, entry(ref).heat);
    remove(ref);
  }
  const Ref whole = reserve(range, hash(range), heat, score, Admission::in_any_case);
  std::uint64_t at = range.displacement;
  const auto keep_until = [&](std::uint64_t end) {
    if (whole != 0)
      copy_in(entry(whole), at - range.displacement, end - at, destination + (at - range.displacement));
  };
  for (const TargetRange& gap : gaps_) {
    keep_until(gap.displacement);
    ask_for(range, gap, whole);
    at = gap.end();
  }
  keep_until(range.end());
}

/// Notes that a part must be fetched, for this entry (0: for none).
void Cache::ask_for(const TargetRange& range, const TargetRange& part, Ref ref) {
  Ticket ticket = 0;
  if (ref != 0) {
    Entry& asked = entry(ref);
    ticket = fetches_.begin({.entry = ref,
                             .generation = epoch_.generation(),
                             .offset = part.displacement - asked.displacement,
                             .bytes = part.bytes,
                             .next = asked.flight});
    asked.flight = ticket;
  }
  missing_.push_back({part.displacement - range.displacement, part.bytes, ticket});
  ++statistics_.fetches;
  statistics_.bytes_fetched += part.bytes;
}

/// An entry for a range that is missing, or 0 if it does not deserve one.
Ref Cache::admit(const TargetRange& range, std::uint64_t own, float heat, float score) {
  const Ref ref = reserve(range, own, heat, score, Admission::by_worth);
  // An entry that is gone without having been evicted was invalidated; what was not admitted lacked room.
  history_.note(own, heat, policy_.tick(), epoch_.generation(),
                ref != 0 ? Cause::invalidated : Cause::capacity);
  return ref;
}

void Cache::next_tick() {
  policy_.next_tick(index_.size());
  timeline_.note({statistics_.lookups(), statistics_.hits(), storage_.bytes()});
}

}  // namespace wherry::cache
