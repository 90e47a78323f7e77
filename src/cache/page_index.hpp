// Which entries lie in a range: where lookups go that the index cannot answer with one probe.
//
// The bytes of all targets are cut into pages of one size, and each page knows the entries that touch it. A
// question about a range costs a probe for each page in it, however many entries there are elsewhere. The cache
// has two such indexes, a fine one for small entries and a coarse one for large ones, so that neither do small entries
// crowd a page nor large ones touch many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/entry.hpp"
#include "cache/index.hpp"

namespace wherry::cache {

class PageIndex {
 public:
  /// Memory that one extend() takes at most.
  static constexpr std::size_t step_bytes = std::size_t{8} << 10;

  /// Pages of 2^page_bits bytes, at most 16 bits; never more than about `most_bytes` of memory.
  PageIndex(unsigned page_bits, std::size_t most_bytes);

  /// Entries in it.
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return index_.bytes() + memory_.committed(); }
  /// Whether an entry of this range certainly finds room.
  bool has_room_for(const TargetRange& range) const { return records_ - taken_ >= pages_of(range); }
  /// Takes a little more memory, in constant time. Returns false if it has all that it may have.
  bool extend();

  /// Only if has_room_for(range). Entries must not overlap.
  void insert(const TargetRange& range, Ref entry);
  void erase(const TargetRange& range, Ref entry);
  /// Forgets all, in constant time.
  void clear();

  /// Asks for the line where a question about this range begins.
  void prefetch(const TargetRange& range) const {
    index_.prefetch(hash(range.target, range.displacement >> page_bits_));
  }

  /// Calls visit(entry, page_begin) for every entry that overlaps the range, once for each page where it does,
  /// in no particular order. page_begin: the displacement where the page begins. Costs a probe for each page of
  /// the range, or a look at all records if they are fewer.
  template <class Visit>
  void visit(const TargetRange& range, Visit&& visit) const {
    if (size_ == 0 || range.bytes == 0) return;
    const std::uint64_t first = range.displacement >> page_bits_, last = (range.end() - 1) >> page_bits_;
    if (first == last) return visit_page(range, first, visit);
    if (last - first >= fresh_) return visit_records(range, first, last, visit);
    for (std::uint64_t page = first; page <= last; ++page) visit_page(range, page, visit);
  }

 private:
  /// Offsets in a page, both inclusive.
  struct Stretch {
    std::uint16_t first, last;
  };
  struct Slot {
    std::uint16_t first, last;
    Ref entry;  // 0: empty
  };
  /// Some of the entries of a page; 0 in `next` ends the chain, of which only the first record has empty slots.
  struct alignas(64) Record {
    std::uint64_t page;
    std::uint32_t target;
    Ref next;
    std::uint64_t taken;  // of the first record: the 64ths of the page that its entries may touch
    Slot slots[5];
  };
  static_assert(sizeof(Record) == 64);

  template <class Visit>
  void visit_page(const TargetRange& range, std::uint64_t page, Visit& visit) const {
    Ref at = head(range.target, page);
    if (at == 0 || (record(at).taken & parts_of(stretch(range, page))) == 0) return;
    for (; at != 0; at = record(at).next) visit_record(range, at, visit);
  }
  /// All records of pages from first to last.
  template <class Visit>
  void visit_records(const TargetRange& range, std::uint64_t first, std::uint64_t last, Visit& visit) const {
    for (Ref at = 1; at < fresh_; ++at)
      if (record(at).target == range.target && record(at).page >= first && record(at).page <= last)
        visit_record(range, at, visit);
  }
  template <class Visit>
  void visit_record(const TargetRange& range, Ref at, Visit& visit) const {
    const Record& seen = record(at);
    const Stretch asked = stretch(range, seen.page);
    for (const Slot& slot : seen.slots)
      if (slot.entry != 0 && slot.first <= asked.last && asked.first <= slot.last)
        visit(slot.entry, seen.page << page_bits_);
  }
  Record& record(Ref ref) const { return reinterpret_cast<Record*>(memory_.data())[ref]; }
  std::size_t pages_of(const TargetRange& range) const {
    return ((range.end() - 1) >> page_bits_) - (range.displacement >> page_bits_) + 1;
  }
  Stretch stretch(const TargetRange& range, std::uint64_t page) const {
    const std::uint64_t begin = page << page_bits_, last = begin + ((std::uint64_t{1} << page_bits_) - 1);
    return {static_cast<std::uint16_t>(std::max(range.displacement, begin) - begin),
            static_cast<std::uint16_t>(std::min(range.end() - 1, last) - begin)};
  }
  /// The 64ths of the page that it touches, a bit for each.
  std::uint64_t parts_of(const Stretch& stretch) const {
    const unsigned shift = page_bits_ - 6;
    return ~std::uint64_t{0} << (stretch.first >> shift) &
           ~std::uint64_t{0} >> (63 - (stretch.last >> shift));
  }
  /// The first record of a page, or 0. Who asks what is on a page often inserts there next.
  Ref head(std::uint32_t target, std::uint64_t page) const {
    if (asked_.page != page || asked_.target != target) asked_ = {page, target, find_head(target, page)};
    return asked_.head;
  }
  Ref find_head(std::uint32_t target, std::uint64_t page) const;
  Ref take_record(std::uint32_t target, std::uint64_t page);
  Slot* empty_slot(Ref first) const;
  void insert_at(std::uint32_t target, std::uint64_t page, const Slot& slot);
  Ref add_head(Ref first, std::uint32_t target, std::uint64_t page);
  void erase_from(std::uint32_t target, std::uint64_t page, Ref entry);
  Slot& slot_of(Ref first, Ref entry);
  void drop_head(Ref first);
  auto hash_of_record() const {
    return [this](Ref ref) { return hash(record(ref).target, record(ref).page); };
  }
  static std::uint64_t hash(std::uint32_t target, std::uint64_t page);

  unsigned page_bits_;
  Index index_;  // from (target, page) to the first record of the page
  Memory memory_;
  Ref fresh_ = 1;            // records from here on have not been used since the last clear()
  Ref free_ = 0;             // list of those that were given back
  std::size_t records_ = 0;  // that there is memory for
  std::size_t taken_ = 0;
  std::size_t size_ = 0;

  struct Asked {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint32_t target = 0;
    Ref head = 0;
  };
  mutable Asked asked_;  // the last page whose head was looked for
};

}  // namespace wherry::cache
