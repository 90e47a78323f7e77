#include "cache/page_index.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "cache/entry.hpp"

namespace wherry::cache {
namespace {

constexpr std::size_t records_per_step = 64;
// Twice the slots that so many records can need: then two buckets that are both full, and stay so, do not occur.
constexpr std::size_t buckets_per_step = 2 * records_per_step / Index::slots_per_bucket;

}  // namespace

PageIndex::PageIndex(unsigned page_bits, std::size_t most_bytes)
    : page_bits_(page_bits),
      index_(2, (most_bytes / step_bytes + 1) * buckets_per_step),
      memory_((most_bytes / step_bytes + 1) * records_per_step * sizeof(Record)) {
  require(page_bits >= 6 && page_bits <= 16, "a page has 64 bytes to 64 KiB");
  extend();
}

bool PageIndex::extend() {
  const std::size_t bytes = memory_.committed() + records_per_step * sizeof(Record);
  if (bytes > memory_.most()) return false;
  memory_.commit(bytes);
  // Record 0 stands for none.
  records_ = bytes / sizeof(Record) - 1;
  for (std::size_t i = 0; i < buckets_per_step; ++i) index_.grow(hash_of_record());
  return true;
}

std::uint64_t PageIndex::hash(std::uint32_t target, std::uint64_t page) { return hash_of(target, ~page); }

Ref PageIndex::find_head(std::uint32_t target, std::uint64_t page) const {
  return index_.find(hash(target, page), [&](Ref ref) {
    return ref != 0 && record(ref).page == page && record(ref).target == target;
  });
}

Ref PageIndex::take_record(std::uint32_t target, std::uint64_t page) {
  Ref ref = free_;
  if (ref != 0) {
    free_ = record(ref).next;
  } else {
    ref = fresh_++;
  }
  ++taken_;
  record(ref) = {page, target, 0, 0, {}};
  return ref;
}

/// A record before all others of its page.
Ref PageIndex::add_head(Ref first, std::uint32_t target, std::uint64_t page) {
  const Ref added = take_record(target, page);
  const std::uint64_t own = hash(target, page);
  asked_ = {page, target, added};
  if (first == 0) {
    ensure(index_.insert(own, added, hash_of_record()), "the index of pages has room for all of its records");
    return added;
  }
  record(added).next = first;
  record(added).taken = record(first).taken;
  index_.replace(own, first, added);
  return added;
}

/// An empty slot of a page's first record, or nullptr.
PageIndex::Slot* PageIndex::empty_slot(Ref first) const {
  if (first == 0) return nullptr;
  for (Slot& slot : record(first).slots)
    if (slot.entry == 0) return &slot;
  return nullptr;
}

void PageIndex::insert_at(std::uint32_t target, std::uint64_t page, const Slot& slot) {
  Ref first = head(target, page);
  Slot* empty = empty_slot(first);
  if (empty == nullptr) {
    first = add_head(first, target, page);
    empty = record(first).slots;
  }
  record(first).taken |= parts_of({slot.first, slot.last});
  *empty = slot;
}

void PageIndex::insert(const TargetRange& range, Ref entry) {
  const std::uint64_t last = (range.end() - 1) >> page_bits_;
  for (std::uint64_t page = range.displacement >> page_bits_; page <= last; ++page) {
    const auto [begin, end] = stretch(range, page);
    insert_at(range.target, page, {begin, end, entry});
  }
  ++size_;
}

void PageIndex::erase(const TargetRange& range, Ref entry) {
  const std::uint64_t first = range.displacement >> page_bits_;
  for (std::uint64_t page = first; page < first + pages_of(range); ++page)
    erase_from(range.target, page, entry);
  --size_;
}

PageIndex::Slot& PageIndex::slot_of(Ref first, Ref entry) {
  for (Ref at = first; at != 0; at = record(at).next)
    for (Slot& slot : record(at).slots)
      if (slot.entry == entry) return slot;
  ensure(false, "an entry is in the index at each of its pages");
  return record(first).slots[0];
}

/// One of the first record takes its place.
void PageIndex::erase_from(std::uint32_t target, std::uint64_t page, Ref entry) {
  const Ref first = head(target, page);
  Slot& gone = slot_of(first, entry);
  auto& slots = record(first).slots;
  const auto used = [](const Slot& each) { return each.entry != 0; };
  Slot& moved = *std::find_if(std::begin(slots), std::end(slots), used);
  gone = moved;
  moved.entry = 0;
  if (std::none_of(std::begin(slots), std::end(slots), used)) drop_head(first);
}

/// The first record of a page is empty.
void PageIndex::drop_head(Ref first) {
  const Record& dropped = record(first);
  const std::uint64_t own = hash(dropped.target, dropped.page);
  asked_ = {dropped.page, dropped.target, dropped.next};
  if (const Ref next = dropped.next; next != 0) {
    index_.replace(own, first, next);
    std::uint64_t taken = 0;
    for (Ref at = next; at != 0; at = record(at).next)
      for (const Slot& slot : record(at).slots) taken |= parts_of({slot.first, slot.last});
    record(next).taken = taken;
  } else {
    index_.erase(own, first);
  }
  record(first).next = free_;
  free_ = first;
  --taken_;
}

void PageIndex::clear() {
  asked_ = {};
  index_.clear();
  fresh_ = 1;
  free_ = 0;
  taken_ = size_ = 0;
}

}  // namespace wherry::cache
