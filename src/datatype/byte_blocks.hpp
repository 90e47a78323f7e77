// Bytes in several places, as MPI moves them in one transfer.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "datatype/type_map.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

using ByteBlocks = std::vector<ByteBlock>;

/// Adds a block; one that begins where the last one ends makes that longer.
inline void add(ByteBlocks& blocks, const ByteBlock& block) {
  if (!blocks.empty() && blocks.back().displacement + blocks.back().bytes == block.displacement)
    blocks.back().bytes += block.bytes;
  else blocks.push_back(block);
}

/// Adds the places of bytes [begin, end) of the data of `count` elements.
inline void add_places(const TypeMap& map, std::int64_t count, std::int64_t begin, std::int64_t end,
                       ByteBlocks& blocks) {
  std::int64_t at = 0;
  each_block(map, count, [&](std::int64_t offset, std::int64_t bytes) {
    const std::int64_t first = std::max(begin, at), last = std::min(end, at + bytes);
    if (first < last) add(blocks, {offset + first - at, last - first});
    at += bytes;
  });
}

/// A committed datatype of one element. Freed at once: MPI keeps it for transfers under way.
class BlocksType {
 public:
  BlocksType(const mpi::Api& api, const ByteBlocks& blocks);
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

inline BlocksType::BlocksType(const mpi::Api& api, const ByteBlocks& blocks) : api_(api) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const ByteBlock& block : blocks) {
    lengths.push_back(static_cast<int>(block.bytes));
    places.push_back(static_cast<MPI_Aint>(block.displacement));
  }
  std::vector<MPI_Datatype> bytes(blocks.size(), MPI_BYTE);
  code_ = api_.Type_create_struct(static_cast<int>(blocks.size()), lengths.data(), places.data(),
                                  bytes.data(), &type_);
  if (code_ == MPI_SUCCESS) code_ = api_.Type_commit(&type_);
}

inline BlocksType::~BlocksType() {
  if (type_ != MPI_DATATYPE_NULL) api_.Type_free(&type_);
}

}  // namespace wherry::datatype
