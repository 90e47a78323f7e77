#include "datatype/byte_blocks.hpp"

#include <algorithm>

namespace wherry::window {

void add_places(const Shape& shape, std::int64_t count, std::int64_t begin, std::int64_t end,
                Blocks& blocks) {
  std::int64_t at = 0;
  each_block(shape, count, [&](std::int64_t offset, std::int64_t bytes) {
    const std::int64_t first = std::max(begin, at), last = std::min(end, at + bytes);
    if (first < last) add(blocks, {offset + first - at, last - first});
    at += bytes;
  });
}

BlocksType::BlocksType(const mpi::Api& api, const Blocks& blocks) : api_(api) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const Block& block : blocks) {
    lengths.push_back(static_cast<int>(block.bytes));
    places.push_back(static_cast<MPI_Aint>(block.offset));
  }
  std::vector<MPI_Datatype> bytes(blocks.size(), MPI_BYTE);
  code_ = api_.Type_create_struct(static_cast<int>(blocks.size()), lengths.data(), places.data(),
                                  bytes.data(), &type_);
  if (code_ == MPI_SUCCESS) code_ = api_.Type_commit(&type_);
}

BlocksType::~BlocksType() {
  if (type_ != MPI_DATATYPE_NULL) api_.Type_free(&type_);
}

}  // namespace wherry::window
