#include "exec/block_packer.hpp"

#include <cstring>
#include <memory>
#include <new>

#include "layout/pack.hpp"

namespace wherry::run {

/// nullptr: the library is to copy.
const layout::PackPlan* BlockPacker::plan(const datatype::Region& region, bool dense, long long bytes) {
  if (layouts_ == nullptr || dense || bytes < least_bytes) return nullptr;
  if (region.type == type_ && region.count == count_) return plan_.get();
  try {
    plan_ = layouts_->plan(region.type, region.count);
    type_ = region.type;
    count_ = region.count;
    return plan_.get();
  } catch (const std::bad_alloc&) {  // the other ranks count on this one's data
    return nullptr;
  }
}

int BlockPacker::pack(const datatype::Region& from, bool dense, std::byte* to, long long bytes) {
  const layout::PackPlan* const known = plan(from, dense, bytes);
  if (known == nullptr) return datatype::pack(channel_.api(), from, dense, to, bytes, channel_.comm());
  layout::pack(*known, static_cast<const std::byte*>(from.address), to, {0, bytes});
  return MPI_SUCCESS;
}

int BlockPacker::deliver(const std::byte* from, long long bytes, const Share& to) {
  if (bytes > to.bytes) return MPI_ERR_TRUNCATE;
  if (bytes == 0) return MPI_SUCCESS;
  if (const layout::PackPlan* const known = plan(to.region, to.dense, bytes)) {
    layout::unpack(*known, static_cast<std::byte*>(const_cast<void*>(to.region.address)), from, {0, bytes});
    return MPI_SUCCESS;
  }
  if (bytes == to.bytes || to.dense)
    return datatype::unpack(channel_.api(), from, bytes, to.region, to.dense, channel_.comm());
  return unpack_first(from, bytes, to);
}

/// MPI_Unpack fills all that its arguments describe, so what no data comes for is filled with what it has.
int BlockPacker::unpack_first(const std::byte* from, long long bytes, const Share& to) const {
  const std::unique_ptr<std::byte[]> all(new (std::nothrow) std::byte[static_cast<std::size_t>(to.bytes)]);
  if (!all) return MPI_ERR_NO_MEM;
  const int code = datatype::pack(channel_.api(), to.region, to.dense, all.get(), to.bytes, channel_.comm());
  if (code != MPI_SUCCESS) return code;
  std::memcpy(all.get(), from, static_cast<std::size_t>(bytes));
  return datatype::unpack(channel_.api(), all.get(), to.bytes, to.region, to.dense, channel_.comm());
}

}  // namespace wherry::run
