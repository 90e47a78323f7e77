#include "remote/variants.hpp"

#include <algorithm>
#include <array>

#include "remote/plain.hpp"
#include "remote/wherry_reader.hpp"
#include "remote/window.hpp"

namespace remote {
namespace {

std::unique_ptr<Reader> plain(const Memory& memory, const CacheOptions&) {
  return std::make_unique<PlainReader>(std::make_unique<Window>(memory.comm, memory.mine));
}

std::unique_ptr<Reader> blocks(const Memory& memory, const CacheOptions& options) {
  return std::make_unique<BlockReader>(
      std::make_unique<Window>(memory.comm, memory.mine),
      BlockOptions{.memory_bytes = options.memory_bytes, .block_bytes = options.block_bytes});
}

template <bool adaptive>
std::unique_ptr<Reader> wherrys(const Memory& memory, const CacheOptions& options) {
  const wherry::WindowOptions window = {.ceiling_bytes = ceiling_of(options),
                                        .storage_bytes = options.memory_bytes,
                                        .index_entries = options.entries,
                                        .adaptive = adaptive,
                                        .bypass = options.bypass,
                                        .block_bytes = options.ahead_bytes,
                                        .node_bytes = options.node_bytes};
  return std::make_unique<WherryReader>(memory.comm, memory.mine, window);
}

}  // namespace

std::size_t ceiling_of(const CacheOptions& options) {
  constexpr std::size_t usual = std::size_t{64} << 20;
  return options.ceiling_bytes.value_or(std::max(usual, 2 * options.memory_bytes));
}

std::span<const Variant> variants(const CacheOptions& options) {
  static const std::array all = {
      Variant{"plain MPI", plain},
      Variant{"block cache", blocks},
      Variant{"Wherry, fixed", wherrys<false>},
      Variant{"Wherry, adaptive", wherrys<true>},
  };
  return std::span(all).subspan(options.plain ? 0 : 1);
}

Statistics sum(const Statistics& mine, MPI_Comm comm) {
  std::array<std::uint64_t, 5> all = {mine.gets, mine.get_bytes, mine.hits, mine.moves, mine.move_bytes};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_SUM, comm);
  return {all[0], all[1], all[2], all[3], all[4]};
}

}  // namespace remote
