// Elements that MPI_Pack cannot count in one call are packed and unpacked by several: random types against one call,
// with a small limit in place of that of int; what no call can count is refused. With --large also a message of more
// than 2 GiB of a type that only the library packs (5 GB of memory).
// ranks: 1 2
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "datatype/type_facts.hpp"
#include "host/layout_messages.hpp"
#include "mpi/api.hpp"
#include "random_types.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;
using Bytes = std::vector<std::byte>;

int failures = 0;

void expect(bool is, const std::string& what) {
  if (is) return;
  if (++failures <= 10) std::fprintf(stderr, "failed: %s\n", what.c_str());
}

/// Memory that the elements reach over, as byte i has the value of i.
struct Memory {
  Memory(const TypeMap& map, int count) {
    TypeMap whole;
    whole.add(map, count, 0);
    const auto [first, last] = std::ranges::minmax(whole.bytes);
    bytes.resize(static_cast<std::size_t>(last - first + 1));
    data = bytes.data() - first;
    size = std::ssize(whole.bytes);
  }
  void fill(unsigned factor) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * factor + i / 256);
  }

  Bytes bytes;
  std::byte* data;
  long long size;
};

void check(const RandomType& x, int count, long long most) {
  const mpi::Api& api = mpi::linked_api();
  const std::string what = x.text + " x " + std::to_string(count) + ", at most " + std::to_string(most);
  Memory from(x.map, count), to(x.map, count), expected(x.map, count);
  from.fill(7);
  to.fill(0);
  expected.fill(0);
  const datatype::Region source{from.data, count, x.type};
  Bytes whole(static_cast<std::size_t>(from.size)), parts(whole.size());
  expect(datatype::pack(api, source, false, whole.data(), from.size, MPI_COMM_SELF) == MPI_SUCCESS,
         "pack: " + what);
  const int code = datatype::pack(api, source, false, parts.data(), from.size, MPI_COMM_SELF, most);
  if (!datatype::is_packable(source, from.size, most))
    return expect(code == MPI_ERR_COUNT, "refused: " + what);
  expect(code == MPI_SUCCESS && parts == whole, "packed in parts: " + what);
  datatype::unpack(api, whole.data(), from.size, {expected.data, count, x.type}, false, MPI_COMM_SELF);
  const int back =
      datatype::unpack(api, whole.data(), from.size, {to.data, count, x.type}, false, MPI_COMM_SELF, most);
  expect(back == MPI_SUCCESS && to.bytes == expected.bytes, "unpacked in parts: " + what);
}

void check_random_types(std::uint64_t seed, int number) {
  RandomTypes types(seed);
  for (int i = 0; i < number; ++i) {
    RandomType x = types.any(1 + i % 4);
    if (!x.map.bytes.empty() && !x.hollow && !x.contested &&
        x.text.find("LONG_DOUBLE") == std::string::npos) {
      MPI_Type_commit(&x.type);
      const long long each = std::ssize(x.map.bytes);
      for (const long long most : {each - 1, each, 2 * each + 1, 4 * each}) check(x, 1 + i % 9, most);
    }
    if (!x.predefined) MPI_Type_free(&x.type);
  }
  if (failures != 0) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
}

int beyond_the_data(MPI_Datatype type, MPI_Aint* begin, MPI_Aint* extent) {
  const int code = PMPI_Type_get_true_extent(type, begin, extent);
  ++*extent;
  return code;
}

const char* no_environment(const char*) { return nullptr; }

/// All elements are the same megabyte: every other byte of two.
void check_large(int rank) {
  constexpr int blocks = 1 << 20, count = 2100;
  mpi::Api api = mpi::linked_api();
  api.Type_get_true_extent = beyond_the_data;
  run::LayoutMessages messages(api, run::Waiting::yielding, no_environment);
  MPI_Datatype every_other = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, 1, 2, MPI_BYTE, &every_other);
  MPI_Type_create_resized(every_other, 0, 0, &type);
  MPI_Type_commit(&type);
  Bytes memory(2 * blocks, std::byte{static_cast<unsigned char>(rank == 0 ? 42 : 1)});
  const auto native = [] { return MPI_ERR_INTERN; };
  const run::MessageEnd end{memory.data(), count, type, {1 - rank, 0}};
  const int code = rank == 0 ? messages.send(end, MPI_COMM_WORLD, native)
                             : messages.receive(end, MPI_COMM_WORLD, MPI_STATUS_IGNORE, native);
  expect(code == MPI_SUCCESS, "a message of more than 2 GiB: code " + std::to_string(code));
  for (std::size_t i = 0; i < memory.size(); ++i)
    expect(memory[i] == std::byte{static_cast<unsigned char>(rank == 0 || i % 2 == 0 ? 42 : 1)},
           "a byte of it");
  MPI_Type_free(&type);
  MPI_Type_free(&every_other);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_random_types(1 + static_cast<std::uint64_t>(rank), 200);
  if (argc > 1 && std::strcmp(argv[1], "--large") == 0 && rank < 2) check_large(rank);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
