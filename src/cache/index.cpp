#include "cache/index.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"

namespace wherry::cache {

Index::Index(std::size_t buckets, std::size_t most)
    : memory_(std::max({most, buckets, std::size_t{2}}) * sizeof(Bucket)),
      most_(std::max({most, buckets, std::size_t{2}})) {
  count_ = std::max(buckets, std::size_t{2});
  commit(count_);
}

void Index::commit(std::size_t buckets) {
  memory_.commit(buckets * sizeof(Bucket));
  mask_ = std::bit_ceil(buckets) - 1;
}

Index::Bucket& Index::at(std::size_t i) {
  Bucket& bucket = table()[i];
  if (bucket.generation != generation_) {
    std::fill(std::begin(bucket.refs), std::end(bucket.refs), 0);
    std::fill(std::begin(bucket.marks), std::end(bucket.marks), 0);
    bucket.generation = generation_;
  }
  return bucket;
}

bool Index::put(std::size_t position, std::uint64_t hash, Ref ref) {
  Bucket& bucket = at(position);
  Ref* free = bucket.refs;
  if (*free != 0) free = std::find(std::begin(bucket.refs) + 1, std::end(bucket.refs), 0);
  else if (is_empty(bucket)) mark(position);
  if (free == std::end(bucket.refs)) return false;
  *free = ref;
  bucket.tags[free - bucket.refs] = tag_of(hash);
  return true;
}

void Index::vacate(std::size_t position, std::size_t slot) {
  Bucket& bucket = at(position);
  bucket.refs[slot] = 0;
  if (is_empty(bucket)) unmark(position);
}

bool Index::is_empty(const Bucket& bucket) const {
  Ref any = 0;
  for (const Ref ref : bucket.refs) any |= ref;
  return any == 0 || bucket.generation != generation_;
}

std::uint32_t Index::marks(std::size_t group, unsigned level) const {
  const Bucket& first = table()[first_of(group, level)];
  return first.generation == generation_ ? first.marks[level] : 0;
}

/// A bucket holds something now, and so does its group; until a group is reached that did before.
void Index::mark(std::size_t position) {
  for (unsigned level = 0; level < levels; ++level) {
    const std::size_t group = position / group_size;
    std::uint32_t& marks = at(first_of(group, level)).marks[level];
    const bool known = marks != 0;
    marks |= std::uint32_t{1} << position % group_size;
    if (known) return;
    position = group;
  }
}

/// It holds nothing any more; nor do the groups of which it was the last.
void Index::unmark(std::size_t position) {
  for (unsigned level = 0; level < levels; ++level) {
    const std::size_t group = position / group_size;
    std::uint32_t& marks = at(first_of(group, level)).marks[level];
    marks &= ~(std::uint32_t{1} << position % group_size);
    if (marks != 0) return;
    position = group;
  }
}

Index::Next Index::next_filled(std::size_t from) const {
  unsigned looked = 1, level = 0;
  if (from < count_ && !is_empty(table()[from])) return {from, looked};
  // Up, where nothing follows in a group. On the highest level from group to group.
  std::size_t at = from;
  while (at << group_bits * level < count_) {
    ++looked;
    const std::size_t group = at / group_size;
    const std::uint32_t later = marks(group, level) & ~std::uint32_t{0} << at % group_size;
    if (later == 0) {
      at = level + 1 < levels ? group + 1 : (group + 1) * group_size;
      level = std::min(level + 1, levels - 1);
      continue;
    }
    at = group * group_size + static_cast<unsigned>(std::countr_zero(later));
    for (; level > 0; ++looked) {
      --level;
      at = at * group_size + static_cast<unsigned>(std::countr_zero(marks(at, level)));
    }
    return {at, looked};
  }
  return {count_, looked};
}

void Index::erase(std::uint64_t hash, Ref ref) {
  for (const std::size_t place : {position(hash), position(other(hash))}) {
    const Bucket& bucket = at(place);
    const Ref* const found = std::find(std::begin(bucket.refs), std::end(bucket.refs), ref);
    if (found == std::end(bucket.refs)) continue;
    vacate(place, static_cast<std::size_t>(found - bucket.refs));
    --size_;
    return;
  }
}

void Index::replace(std::uint64_t hash, Ref old, Ref ref) {
  for (const std::size_t place : {position(hash), position(other(hash))}) {
    Bucket& bucket = at(place);
    Ref* const found = std::find(std::begin(bucket.refs), std::end(bucket.refs), old);
    if (found == std::end(bucket.refs)) continue;
    *found = ref;
    return;
  }
  ensure(false, "a reference that is replaced is in the index");
}

void Index::clear() {
  size_ = 0;
  if (++generation_ != 0) return;
  // Once in four thousand million times the numbers begin again.
  std::fill_n(table(), count_, Bucket{});
  generation_ = 1;
}

std::span<const Ref, Index::slots_per_bucket> Index::refs(std::size_t i) const {
  static constexpr Ref none[slots_per_bucket] = {};
  const Bucket& bucket = table()[i];
  return std::span<const Ref, slots_per_bucket>(bucket.generation == generation_ ? bucket.refs : none);
}

}  // namespace wherry::cache
