// Bytes in several places, as MPI moves them in one transfer.
#pragma once

#include <mpi.h>

#include <vector>

#include "datatype/type_map.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

using Blocks = std::vector<Block>;

/// Adds a block; one that begins where the last one ends makes that longer.
inline void add(Blocks& blocks, const Block& block) {
  if (!blocks.empty() && blocks.back().offset + blocks.back().bytes == block.offset)
    blocks.back().bytes += block.bytes;
  else blocks.push_back(block);
}

/// Adds the places of bytes [begin, end) of the data of `count` elements.
void add_places(const Shape& shape, std::int64_t count, std::int64_t begin, std::int64_t end, Blocks& blocks);

/// A committed datatype of one element. Freed at once: MPI keeps it for transfers under way.
class BlocksType {
 public:
  BlocksType(const mpi::Api& api, const Blocks& blocks);
  BlocksType(const BlocksType&) = delete;
  BlocksType& operator=(const BlocksType&) = delete;
  ~BlocksType();

  int code() const { return code_; }
  MPI_Datatype get() const { return type_; }

 private:
  const mpi::Api& api_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace wherry::window
