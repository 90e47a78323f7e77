// Where the bytes of a datatype lie, for windows: as the library packs them, so that types of any constructor have one.
// decode.hpp has what the kernels need, which do without the library.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "layout/layout.hpp"
#include "layout/pack_plan.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

using layout::ByteBlock;  // of an element, from its address on

/// The plans of one element and of the number of elements that was asked for last, as calls repeat their counts.
/// Thread-safe.
class RepeatedPlans {
 public:
  using PlanPtr = std::shared_ptr<const layout::PackPlan>;

  RepeatedPlans(const std::vector<ByteBlock>& element, std::int64_t extent);

  PlanPtr of(std::int64_t count);

 private:
  const PlanPtr element_;
  const std::int64_t extent_;
  std::mutex mutex_;
  std::int64_t last_count_ = 1;
  PlanPtr last_;
};

/// Where the data of one datatype lie, in the order of MPI's type map, which need not be the order of memory.
struct TypeMap {
  std::int64_t size = -1;  // bytes of data in one element; negative: the library does not tell
  std::int64_t extent = 0;
  bool dense = false;                    // `n` elements are n * size bytes in memory order without a gap
  bool predefined = false;               // and so never freed
  bool mapped = false;                   // `blocks` tells where the data are
  std::vector<ByteBlock> blocks;         // of one element
  std::shared_ptr<RepeatedPlans> plans;  // how these are copied
  std::int64_t begin = 0, end = 0;       // of what one element touches, for types that are not mapped

  /// Whether count elements can be told as blocks, and not as too many.
  bool is_told(std::int64_t count) const {
    return dense || (mapped && count <= most_blocks / static_cast<std::int64_t>(blocks.size() + 1));
  }

  static constexpr std::int64_t most_blocks = 4096;  // of one transfer
};

/// Asks the library. Types whose elements reach over more than 1 MiB are not mapped.
TypeMap type_map_of(const mpi::Api& api, MPI_Datatype type);

/// Calls use(offset, bytes) for the data of `count` elements, in order, with what is adjacent as one. The type must
/// be dense or mapped.
template <class Use>
void each_block(const TypeMap& map, std::int64_t count, Use&& use) {
  if (map.dense) {
    if (count * map.size > 0) use(std::int64_t{0}, count * map.size);
    return;
  }
  ByteBlock open{0, 0};
  for (std::int64_t element = 0; element < count; ++element)
    for (const ByteBlock& block : map.blocks) {
      const std::int64_t offset = element * map.extent + block.displacement;
      if (open.bytes > 0 && offset == open.displacement + open.bytes) {
        open.bytes += block.bytes;
        continue;
      }
      if (open.bytes > 0) use(open.displacement, open.bytes);
      open = {offset, block.bytes};
    }
  if (open.bytes > 0) use(open.displacement, open.bytes);
}

/// Copies the data of `count` elements at `address` to `to`, without gaps.
void gather(const TypeMap& map, std::int64_t count, const void* address, std::byte* to);
/// Spreads them again; gaps stay untouched.
void scatter(const TypeMap& map, std::int64_t count, const std::byte* from, void* address);

}  // namespace wherry::datatype
