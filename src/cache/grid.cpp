#include "cache/grid.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "cache/hash.hpp"

namespace wherry::cache {
namespace {

constexpr std::size_t records_per_step = 64;
// Twice the slots that so many records can need: then two buckets that are both full, and stay so, do not occur.
constexpr std::size_t buckets_per_step = 2 * records_per_step / Index::slots_per_bucket;

}  // namespace

Grid::Grid(unsigned page_bits, std::size_t most_bytes)
    : page_bits_(page_bits),
      index_(2, (most_bytes / step_bytes + 1) * buckets_per_step),
      memory_((most_bytes / step_bytes + 1) * records_per_step * sizeof(Record)) {
  require(page_bits <= 16, "a page of a grid has at most 64 KiB");
  extend();
}

bool Grid::extend() {
  const std::size_t bytes = memory_.committed() + records_per_step * sizeof(Record);
  if (bytes > memory_.most()) return false;
  memory_.commit(bytes);
  // Record 0 stands for none.
  records_ = bytes / sizeof(Record) - 1;
  for (std::size_t i = 0; i < buckets_per_step; ++i) index_.grow(hash_of_record());
  return true;
}

std::uint64_t Grid::hash(std::uint32_t target, std::uint64_t page) { return hash_of(target, ~page); }

Grid::Stretch Grid::stretch(const Range& range, std::uint64_t page) const {
  const std::uint64_t begin = page << page_bits_, last = begin + ((std::uint64_t{1} << page_bits_) - 1);
  return {static_cast<std::uint16_t>(std::max(range.displacement, begin) - begin),
          static_cast<std::uint16_t>(std::min(range.end() - 1, last) - begin)};
}

Ref Grid::head(std::uint32_t target, std::uint64_t page) const {
  return index_.find(hash(target, page), [&](Ref ref) {
    return ref != 0 && record(ref).page == page && record(ref).target == target;
  });
}

Ref Grid::take_record(std::uint32_t target, std::uint64_t page) {
  Ref ref = free_;
  if (ref != 0) {
    free_ = record(ref).next;
  } else {
    ref = fresh_++;
  }
  ++taken_;
  record(ref) = {page, target, 0, {}};
  return ref;
}

void Grid::index_head(Ref ref) {
  const std::uint64_t own = hash_of_record()(ref);
  ensure(index_.insert(own, ref, hash_of_record()), "the index of a grid has room for all of its records");
}

Grid::Slot& Grid::free_slot(std::uint32_t target, std::uint64_t page) {
  const Ref first = head(target, page);
  Ref last = 0;
  for (Ref at = first; at != 0; last = at, at = record(at).next)
    for (Slot& slot : record(at).slots)
      if (slot.entry == 0) return slot;
  const Ref added = take_record(target, page);
  if (last != 0) record(last).next = added;
  else index_head(added);
  return record(added).slots[0];
}

void Grid::insert(const Range& range, Ref entry) {
  const std::uint64_t first = range.displacement >> page_bits_;
  for (std::uint64_t page = first; page < first + pages_of(range); ++page) {
    const auto [begin, end] = stretch(range, page);
    free_slot(range.target, page) = {begin, end, entry};
  }
  ++size_;
}

void Grid::erase(const Range& range, Ref entry) {
  const std::uint64_t first = range.displacement >> page_bits_;
  for (std::uint64_t page = first; page < first + pages_of(range); ++page)
    erase_from(range.target, page, entry);
  --size_;
}

void Grid::erase_from(std::uint32_t target, std::uint64_t page, Ref entry) {
  Ref previous = 0;
  for (Ref at = head(target, page); at != 0; previous = at, at = record(at).next)
    for (Slot& slot : record(at).slots) {
      if (slot.entry != entry) continue;
      slot.entry = 0;
      if (std::all_of(std::begin(record(at).slots), std::end(record(at).slots),
                      [](const Slot& each) { return each.entry == 0; }))
        drop_record(previous, at);
      return;
    }
  ensure(false, "an entry is in the grid at each of its pages");
}

void Grid::drop_record(Ref previous, Ref ref) {
  const Record& dropped = record(ref);
  const std::uint64_t own = hash(dropped.target, dropped.page);
  if (previous != 0) record(previous).next = dropped.next;
  else if (dropped.next != 0) index_.replace(own, ref, dropped.next);
  else index_.erase(own, ref);
  record(ref).next = free_;
  free_ = ref;
  --taken_;
}

void Grid::clear() {
  index_.clear();
  fresh_ = 1;
  free_ = 0;
  taken_ = size_ = 0;
}

}  // namespace wherry::cache
