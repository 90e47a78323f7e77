// The watch over block sizes: the ranks follow a change together, and stay together where the library fails.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include "coll/state/size_watch.hpp"
#include "failing_reductions.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr double small = 8, large = 100000;  // bytes
constexpr int calls = 400;

struct Trouble {
  const char* name;
  Reductions with;
  double first, last;  // bytes whose size classes are in use at the first and the last call
  long most_started;
};

constexpr Trouble troubles[] = {
    {"none", {}, small, large, calls / 64},
    {"no first size", {.reduces = false}, 0, 0, 0},
    {"no start", {.starts = false}, small, small, 1},
    {"no end", {.completes = false}, small, small, 1},
};

std::uint32_t class_of_size(double bytes) { return profile::bucket_of(static_cast<std::uint64_t>(bytes)); }

/// Only the last rank's blocks grow.
void follow(Bench& b, const Trouble& trouble, const run::Channel& channel) {
  const bool grows = rank_of(channel.comm()) == size_of(channel.comm()) - 1;
  run::SizeWatch watch;
  watch.start(small, channel);
  long changed_at = -1;
  for (int call = 0; call < calls; ++call) {
    const std::uint32_t before = watch.bucket(channel);
    watch.saw(grows ? large : small, channel);
    if (call == 0) b.expect(before == class_of_size(trouble.first), "the first size class");
    if (changed_at < 0 && before != class_of_size(trouble.first)) changed_at = call;
  }
  b.expect(watch.bucket(channel) == class_of_size(trouble.last), "the last size class");
  b.expect(agreed(changed_at, channel.comm()), "the size class changed at different calls");
  b.expect(reductions.started <= trouble.most_started, "the library was asked again after it had failed");
  watch.finish(channel);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("size watch", failures_in(troubles, follow));
}
