#include "datatype/type_map.hpp"

#include <algorithm>
#include <cstring>

#include "datatype/type_facts.hpp"
#include "layout/canonical.hpp"
#include "layout/pack.hpp"
#include "mpi/errors_returned.hpp"

namespace wherry::datatype {
namespace {

constexpr std::int64_t most_extent = std::int64_t{1} << 20;
constexpr std::int64_t few_blocks = 8;  // are copied before their plan is found

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

bool wants_kernels(const TypeMap& map, std::int64_t count) {
  return !map.dense && map.plans != nullptr &&
         count > few_blocks / static_cast<std::int64_t>(map.blocks.size() + 1);
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
  const TypeFacts facts = facts_of(api, type);
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
  if (!map.mapped) return map;
  map.blocks = joined(offsets, begin);
  map.plans = std::make_shared<RepeatedPlans>(map.blocks, map.extent);
  return map;
}

RepeatedPlans::RepeatedPlans(const std::vector<ByteBlock>& element, std::int64_t extent)
    : element_(std::make_shared<const layout::PackPlan>(layout::canonical(layout::indexed(element)))),
      extent_(extent),
      last_(element_) {}

RepeatedPlans::PlanPtr RepeatedPlans::of(std::int64_t count) {
  if (count == 1) return element_;
  const std::lock_guard lock(mutex_);
  if (count != last_count_) {
    last_ = std::make_shared<const layout::PackPlan>(layout::repeated(count, extent_, element_->form()));
    last_count_ = count;
  }
  return last_;
}

void gather(const TypeMap& map, std::int64_t count, const void* address, std::byte* to) {
  if (wants_kernels(map, count)) {
    const RepeatedPlans::PlanPtr plan = map.plans->of(count);
    return layout::pack(*plan, at(address, 0), to, {0, plan->size()});
  }
  each_block(map, count, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(to, at(address, offset), static_cast<std::size_t>(bytes));
    to += bytes;
  });
}

void scatter(const TypeMap& map, std::int64_t count, const std::byte* from, void* address) {
  if (wants_kernels(map, count)) {
    const RepeatedPlans::PlanPtr plan = map.plans->of(count);
    return layout::unpack(*plan, at(address, 0), from, {0, plan->size()});
  }
  each_block(map, count, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(at(address, offset), from, static_cast<std::size_t>(bytes));
    from += bytes;
  });
}

}  // namespace wherry::datatype
