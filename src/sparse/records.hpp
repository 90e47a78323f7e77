// Messages that travel together: each behind a record that says whose it is and how long.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace wherry::run {

/// The head of one message. Ranks of one program have the same byte order, as everywhere in Wherry.
struct Record {
  int origin;
  int destination;
  long long size;  // bytes behind the record, or ~bytes if they travel by themselves

  constexpr bool is_here() const { return size >= 0; }
  constexpr std::size_t bytes() const { return static_cast<std::size_t>(is_here() ? size : ~size); }
  constexpr std::size_t bytes_here() const { return is_here() ? bytes() : 0; }
};

inline constexpr std::size_t record_unit = sizeof(Record);  // records and data begin at multiples of it
static_assert(record_unit == 16);

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + record_unit - 1) / record_unit * record_unit;
}

/// What record and data take.
constexpr std::size_t stride(const Record& record) { return record_unit + padded(record.bytes_here()); }

/// Writes record and data at `to`, which has room for its stride.
inline void write(const Record& record, const void* data, std::byte* to) {
  std::memcpy(to, &record, sizeof record);
  if (record.bytes_here() > 0) std::memcpy(to + record_unit, data, record.bytes_here());
}

inline void append(std::vector<std::byte>& bundle, const Record& record, const void* data) {
  const std::size_t at = bundle.size();
  bundle.resize(at + stride(record));
  write(record, data, bundle.data() + at);
}

/// Calls use(record, data) for each, in order.
template <class Use>
void for_each_record(std::span<const std::byte> bundle, Use use) {
  while (!bundle.empty()) {
    Record record;
    std::memcpy(&record, bundle.data(), sizeof record);
    use(record, bundle.data() + record_unit);
    bundle = bundle.subspan(stride(record));
  }
}

}  // namespace wherry::run
