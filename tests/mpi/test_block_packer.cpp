// Blocks of collectives become bytes and elements again as the type map says, whoever copies: the layout kernels, which
// make no call of MPI_Pack or MPI_Unpack then, or the library.
//
// ranks: 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "../seed.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/block_packer.hpp"
#include "mpi/api.hpp"
#include "random_elements.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

long failures = 0, library_calls = 0, by_kernels = 0;

void expect(bool is, const std::string& what) {
  if (is) return;
  if (++failures <= 10) std::fprintf(stderr, "failed: %s\n", what.c_str());
}

int counted_pack(const void* from, int count, MPI_Datatype type, void* to, int size, int* position,
                 MPI_Comm comm) {
  return ++library_calls, PMPI_Pack(from, count, type, to, size, position, comm);
}
int counted_unpack(const void* from, int size, int* position, void* to, int count, MPI_Datatype type,
                   MPI_Comm comm) {
  return ++library_calls, PMPI_Unpack(from, size, position, to, count, type, comm);
}

unsigned char value(std::size_t i) { return static_cast<unsigned char>(i * 7 + i / 251); }

std::byte* address(Bytes& bytes) { return reinterpret_cast<std::byte*>(bytes.data()); }

/// A block of elements, and what is known of it.
struct Block {
  Block(const RandomType& x, int count, const Elements& elements)
      : memory(elements),
        share{.region = {memory.data(), count, x.type}, .bytes = std::ssize(elements.places), .dense = false},
        what(x.text + " x " + std::to_string(count)) {}

  Reach memory;
  run::Share share;
  std::string what;
};

void check_pack(run::BlockPacker& packer, Block& block) {
  const std::size_t bytes = block.memory.places.size();
  Bytes due(bytes + 8, poison), to(due);
  for (std::size_t i = 0; i < bytes; ++i) block.memory.byte(i) = value(i);
  for (std::size_t i = 0; i < bytes; ++i)
    due[i] = block.memory.byte(i);  // of bytes that are sent twice, the last
  const int code = packer.pack(block.share.region, false, address(to), block.share.bytes);
  expect(code == MPI_SUCCESS && to == due, "packed: " + block.what);
}

/// bytes: at most those of the elements; what is behind them stays as it is.
void check_deliver(run::BlockPacker& packer, Block& block, long long bytes) {
  Bytes from(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = value(i + 3);
  std::ranges::fill(block.memory.memory, poison);
  Bytes due = block.memory.memory;
  for (std::size_t i = 0; i < from.size(); ++i) due[Reach::margin + block.memory.places[i]] = from[i];
  const int code = packer.deliver(address(from), bytes, block.share);
  expect(code == MPI_SUCCESS && block.memory.memory == due,
         "delivered " + std::to_string(bytes) + " bytes: " + block.what);
}

void check_refusal(run::BlockPacker& packer, Block& block) {
  const Bytes before = block.memory.memory;
  Bytes more(block.memory.places.size() + 1);
  const int code = packer.deliver(address(more), std::ssize(more), block.share);
  expect(code == MPI_ERR_TRUNCATE && block.memory.memory == before, "too much: " + block.what);
}

void check(const mpi::Api& api, datatype::TypeLayouts* layouts, const RandomType& x, int count) {
  const run::Channel channel(api, MPI_COMM_SELF, run::Waiting::library);
  run::BlockPacker packer(channel, layouts);
  const Elements elements(x.map, count);
  Block block(x, count, elements);
  const long long all = block.share.bytes, part = all - all / 3;
  library_calls = 0;
  check_pack(packer, block);
  if (!overlap(elements.places)) {
    check_deliver(packer, block, all);
    check_deliver(packer, block, part);
    check_refusal(packer, block);
  }
  if (layouts == nullptr) expect(library_calls > 0, "the library was not asked: " + block.what);
  const bool has_layout = layouts != nullptr && layouts->plan(x.type, count) != nullptr;
  if (!has_layout || part < run::BlockPacker::least_bytes) return;
  ++by_kernels;
  expect(library_calls == 0, "the library copied: " + block.what);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = seed_from_environment();
  {
    mpi::Api api = mpi::linked_api();
    api.Pack = counted_pack;
    api.Unpack = counted_unpack;
    datatype::TypeLayouts layouts(api);
    RandomTypes types(seed);
    for (int i = 0; i < 400; ++i) {
      RandomType x = types.any(1 + i % 4);
      if (is_fit(x)) {
        MPI_Type_commit(&x.type);
        const Long wanted = 1 + types.below(i % 2 == 0 ? 900 : 20'000);
        const int count = static_cast<int>(std::max<Long>(1, wanted / std::ssize(x.map.bytes)));
        check(api, &layouts, x, count);
        check(api, nullptr, x, count);
      }
      if (!x.predefined) MPI_Type_free(&x.type);
    }
    expect(by_kernels > 50, "few blocks were for the kernels");
  }
  if (failures != 0) std::fprintf(stderr, "seed %u\n", seed);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
