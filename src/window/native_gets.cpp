#include "window/native_gets.hpp"

#include <algorithm>

namespace wherry::window {
namespace {

/// Of whom no range is cached.
constexpr std::uint32_t nobody = ~std::uint32_t{0};

}  // namespace

/// What is looked at of the type is remembered if it stays valid.
std::uint64_t NativeGets::bytes_of(const TargetRegion& place) {
  if (place.count <= 0 || place.type == MPI_DATATYPE_NULL) return 0;
  std::int64_t size = passed_type_.size, bytes = 0;
  if (place.type != passed_type_.type) {
    const std::shared_ptr<const datatype::TypeMap> map = common_.library.map(place.type);
    size = std::max<std::int64_t>(map->size, 0);
    if (map->predefined) passed_type_ = {place.type, size};
  }
  return __builtin_mul_overflow(size, std::int64_t{place.count}, &bytes) ? 0
                                                                         : static_cast<std::uint64_t>(bytes);
}

int NativeGets::pass(NotCached why, const TargetRegion& place, const Native& native) {
  ++passed_;
  count(why, bytes_of(place));
  common_.cache.track(place.rank);
  return native();
}

int NativeGets::bypass(NotCached why, int rank, std::uint64_t bytes, const Native& native) {
  ++bypassed_;
  count(why, bytes);
  common_.operations.issue(rank);
  return run_timed(common_.operations.target(rank), bytes, native);
}

int NativeGets::get_untracked(const TargetRegion& place, const Native& native) {
  ++bypassed_;
  const bool is_known = place.type == common_.plain.type && place.count > 0;
  count(common_.cache.get() == nullptr ? NotCached::too_few : NotCached::cheaper,
        is_known ? static_cast<std::uint64_t>(place.count * common_.plain.size) : 0);
  common_.cache.track(place.rank);
  return native();
}

int NativeGets::expect(const Region& origin, int rank, int code) {
  const bool forgets = common_.cache.forgets();
  if (code != MPI_SUCCESS || (forgets && common_.cache.holds_nothing()) || origin.count <= 0 ||
      origin.type == MPI_DATATYPE_NULL)
    return code;
  std::int64_t size = common_.plain.size;
  if (origin.type != common_.plain.type) {
    const std::shared_ptr<const datatype::TypeMap> map = common_.library.map(origin.type);
    size = map->dense ? map->size : 0;
  }
  const cache::TargetRange range{nobody, 0, static_cast<std::uint64_t>(size * origin.count)};
  if (range.bytes == 0) return code;
  const auto* const to = static_cast<const std::byte*>(origin.address);
  if (forgets && !common_.overlaps.may_touch(to, range.bytes)) return code;
  Target& target = common_.operations.target(rank);
  target.fetched.push_back({target.issued, 0, range, to});
  common_.overlaps.expect(to, range.bytes);
  return code;
}

void NativeGets::report(WindowStatistics& statistics) const {
  statistics.passed = passed_;
  statistics.bypassed = bypassed_;
  statistics.not_cached = not_cached_;
}

}  // namespace wherry::window
