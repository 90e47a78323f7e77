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
    bucket.generation = generation_;
  }
  return bucket;
}

bool Index::put(std::size_t position, std::uint64_t hash, Ref ref) {
  Bucket& bucket = at(position);
  Ref* const free = std::find(std::begin(bucket.refs), std::end(bucket.refs), 0);
  if (free == std::end(bucket.refs)) return false;
  *free = ref;
  bucket.tags[free - bucket.refs] = tag_of(hash);
  return true;
}

void Index::erase(std::uint64_t hash, Ref ref) {
  for (const std::size_t place : {position(hash), position(other(hash))}) {
    Bucket& bucket = at(place);
    Ref* const found = std::find(std::begin(bucket.refs), std::end(bucket.refs), ref);
    if (found == std::end(bucket.refs)) continue;
    *found = 0;
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
