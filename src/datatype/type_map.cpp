#include "datatype/type_map.hpp"

#include <algorithm>
#include <cstring>

#include "datatype/type_facts.hpp"
#include "mpi/errors_returned.hpp"

namespace wherry::window {
namespace {

constexpr std::int64_t most_extent = std::int64_t{1} << 20;

/// The address of what lies `offset` bytes from `address`, which may be MPI_BOTTOM.
std::byte* at(const void* address, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(offset));
}

/// For each byte of data, in the order of the type map, its offset from `begin`.
///
/// The library tells: it packs memory whose bytes spell their own offsets, once for each digit. That holds for all
/// types there are, by whatever constructor. What it leaves out, as the padding of long double, stays what it was:
/// then nobody knows.
bool offsets_of(const mpi::Api& api, MPI_Datatype type, std::int64_t begin, std::int64_t extent,
                std::vector<std::int64_t>& offsets) {
  std::vector<std::byte> memory(static_cast<std::size_t>(extent)), packed(offsets.size()),
      other(offsets.size());
  for (int shift = 0; shift == 0 || (extent - 1) >> shift != 0; shift += 8) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i >> shift);
    std::ranges::fill(packed, std::byte{0x00});
    std::ranges::fill(other, std::byte{0xff});
    for (std::vector<std::byte>* const to : {&packed, &other}) {
      int position = 0;
      const int code = api.Pack(at(memory.data(), -begin), 1, type, to->data(), static_cast<int>(to->size()),
                                &position, MPI_COMM_SELF);
      if (code != MPI_SUCCESS || static_cast<std::size_t>(position) != to->size()) return false;
    }
    if (packed != other) return false;
    for (std::size_t i = 0; i < packed.size(); ++i)
      offsets[i] |= std::to_integer<std::int64_t>(packed[i]) << shift;
  }
  return true;
}

std::vector<ByteBlock> joined(const std::vector<std::int64_t>& offsets, std::int64_t begin) {
  std::vector<ByteBlock> blocks;
  for (const std::int64_t offset : offsets) {
    if (!blocks.empty() && begin + offset == blocks.back().displacement + blocks.back().bytes)
      ++blocks.back().bytes;
    else blocks.push_back({begin + offset, 1});
  }
  return blocks;
}

}  // namespace

TypeMap type_map_of(const mpi::Api& api, MPI_Datatype type) {
  const run::TypeFacts facts = run::facts_of(api, type);
  TypeMap map;
  map.size = facts.size;
  map.extent = facts.extent;
  map.dense = facts.dense;
  map.predefined = facts.predefined;
  MPI_Aint begin = 0, extent = 0;
  if (map.size < 0 || api.Type_get_true_extent(type, &begin, &extent) != MPI_SUCCESS) return {};
  map.begin = begin;
  map.end = begin + extent;
  if (map.dense || map.size == 0 || extent > most_extent || map.size > most_extent) return map;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(map.size));
  // A type that is not committed is the program's error, and the library's to tell when the program uses it.
  const run::ErrorsReturned returned(MPI_COMM_SELF, api);
  map.mapped = offsets_of(api, type, begin, extent, offsets);
  if (map.mapped) map.blocks = joined(offsets, begin);
  return map;
}

void gather(const TypeMap& map, std::int64_t count, const void* address, std::byte* to) {
  each_block(map, count, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(to, at(address, offset), static_cast<std::size_t>(bytes));
    to += bytes;
  });
}

void scatter(const TypeMap& map, std::int64_t count, const std::byte* from, void* address) {
  each_block(map, count, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(at(address, offset), from, static_cast<std::size_t>(bytes));
    from += bytes;
  });
}

}  // namespace wherry::window
