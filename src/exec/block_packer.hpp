// How the elements of a block become bytes, and bytes its elements again.
#pragma once

#include <cstddef>

#include "arguments/blocks.hpp"
#include "comm/channel.hpp"
#include "datatype/type_layouts.hpp"

namespace wherry::run {

/// By the layout kernels where there are layouts, the type has one and the data is worth it; else by the library. Both
/// give the bytes in the order of the type map, so ranks need not agree. All functions return MPI codes, and send no
/// message, as this may happen inside the library. For one call: it remembers the plan of the last block, whose type the
/// program may free after that.
class BlockPacker {
 public:
  /// Data of fewer bytes gain less by a faster copy than finding the plan takes.
  static constexpr long long least_bytes = 128;

  /// layouts: nullptr: none.
  BlockPacker(const Channel& channel, datatype::TypeLayouts* layouts)
      : channel_(channel), layouts_(layouts) {}

  /// Copies the `bytes` bytes of the elements to `to`, without gaps.
  int pack(const datatype::Region& from, bool dense, std::byte* to, long long bytes);
  /// Puts `bytes` bytes at `from` where this rank receives them. More room than that is not legal MPI, but libraries
  /// forgive it, so the rest stays as it is; for less room, MPI_ERR_TRUNCATE and nothing written.
  int deliver(const std::byte* from, long long bytes, const Share& to);
  /// Whether the kernels do so.
  bool is_by_layout(const Share& share) { return plan(share.region, share.dense, share.bytes) != nullptr; }

 private:
  const layout::PackPlan* plan(const datatype::Region& region, bool dense, long long bytes);
  int unpack_first(const std::byte* from, long long bytes, const Share& to) const;

  const Channel& channel_;
  datatype::TypeLayouts* layouts_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  long long count_ = 0;
  datatype::PlanPtr plan_;  // of so many elements of the type
};

}  // namespace wherry::run
