// The watch over block sizes: the ranks follow a change together, and stay together where the library fails.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include "edge_bench.hpp"
#include "run/size_watch.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// What fails of the library's reductions, on all ranks alike. MPI's functions carry no state.
struct Library {
  bool reduces = true, starts = true, completes = true;
  long started = 0;  // non-blocking reductions that were asked for
} library;

/// What a library may leave in a request that it did not start: here one that is complete at once.
MPI_Request leftover = MPI_REQUEST_NULL;

int allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
  return library.reduces ? code : MPI_ERR_OTHER;
}

int iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
  ++library.started;
  if (library.starts) return PMPI_Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
  *request = leftover;
  return MPI_ERR_OTHER;
}

int wait(MPI_Request* request, MPI_Status* status) {
  const int code = PMPI_Wait(request, status);
  return library.completes ? code : MPI_ERR_OTHER;
}

mpi::Api failing_api() {
  mpi::Api api = mpi::linked_api();
  api.Allreduce = allreduce;
  api.Iallreduce = iallreduce;
  api.Wait = wait;
  return api;
}

constexpr double small = 8, large = 100000;  // bytes
constexpr int calls = 400;

struct Trouble {
  const char* name;
  Library with;
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

/// Whether a number is the same on all ranks.
bool agreed(long value, MPI_Comm comm) {
  long both[2] = {value, -value}, least[2] = {};
  PMPI_Allreduce(both, least, 2, MPI_LONG, MPI_MIN, comm);
  return least[0] == -least[1];
}

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
  b.expect(library.started <= trouble.most_started, "the library was asked again after it had failed");
  watch.finish(channel);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Settings settings = untuned();
  const mpi::Api api = failing_api();
  run::Runtime runtime(settings, api, nullptr);
  const Witness witness;
  long failures = 0;
  for (const Trouble& trouble : troubles) {
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &leftover);
    library = trouble.with;
    Bench b{runtime, witness, learner, trouble.name};
    follow(b, trouble, run::Channel(api, comm, run::Waiting::library));
    failures += b.failures;
    PMPI_Wait(&leftover, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }
  return concluded("size watch", failures);
}
