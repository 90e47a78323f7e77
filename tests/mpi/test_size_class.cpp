// Which buffers are of one size class, and so share what is learned.
//
// ranks: 1
#include <mpi.h>

#include <cstdio>

#include "coll/choice/description.hpp"
#include "edge_bench.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// Of a buffer of so many blocks.
run::CellKey key_of(int blocks, long long block_bytes) {
  run::SegmentCall call;
  call.blocks = blocks;
  call.block_bytes = block_bytes;
  return run::describe(call, Collective::allreduce).key;
}

struct Pair {
  const char* name;
  run::CellKey first, second;
  bool are_alike;
};

const Pair pairs[] = {
    {"1 and 64 bytes", key_of(1, 1), key_of(1, 64), true},
    {"4 and 48 bytes", key_of(1, 4), key_of(1, 48), true},
    {"64 and 65 bytes", key_of(1, 64), key_of(1, 65), false},
    {"65 and 128 bytes", key_of(1, 65), key_of(1, 128), true},
    {"128 and 129 bytes", key_of(1, 128), key_of(1, 129), false},
    {"nothing and a byte", key_of(1, 0), key_of(1, 1), false},
    {"two blocks, which may be many more, of 8 and 64 bytes", key_of(2, 8), key_of(2, 64), false},
};

long failed(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "%s\n", what);
  return holds ? 0 : 1;
}

long failures() {
  long all =
      failed(run::largest(key_of(1, 1)) == 64 && run::largest(key_of(2, 8)) == 8, "the largest of a class");
  for (const Pair& pair : pairs) all += failed((pair.first == pair.second) == pair.are_alike, pair.name);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("size class", failures());
}
