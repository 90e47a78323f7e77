// Every strategy, as alltoall, alltoallv and alltoallw, in and out of place, delivers what the type maps say.
//
// ranks: 1 2 3 5 7 8 13
// Runs under mpiexec at any number of ranks; WHERRY_TEST_SEED changes the random cases.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "../seed.hpp"
#include "host/runtime.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "typed_buffer.hpp"

namespace {

using namespace wherry;
using test::Buffer;
using test::TestType;

/// A repeatable number below `below`, the same on every rank for the same arguments.
int draw(unsigned seed, int a, int b, int salt, int below) {
  std::seed_seq sequence{seed, static_cast<unsigned>(a), static_cast<unsigned>(b),
                         static_cast<unsigned>(salt)};
  return static_cast<int>(std::minstd_rand(sequence)() % static_cast<unsigned>(below));
}

struct World {
  MPI_Comm comm;
  int rank, size;
  std::vector<TestType> types;
  run::Runtime& runtime;
  std::string label;
  long failures = 0;
  long checks = 0;

  void validate(const Buffer& buffer, const char* what, unsigned seed) {
    ++checks;
    const long wrong = buffer.first_wrong();
    if (wrong < 0) return;
    ++failures;
    std::fprintf(stderr, "rank %d of %d: %s, %s: int %ld of the receive buffer is wrong (seed %u)\n", rank,
                 size, label.c_str(), what, wrong, seed);
  }
  const TestType& type(int i) const { return types[static_cast<std::size_t>(i) % types.size()]; }
};

int must_not_run_native() { return MPI_ERR_OTHER; }

void check_alltoall(World& w, int elements, int send_type, int receive_type, unsigned seed,
                    const run::Native& native) {
  const TestType &out = w.type(send_type), &in = w.type(receive_type);
  Buffer sent(out.extent * elements * w.size), received(in.extent * elements * w.size);
  for (int r = 0; r < w.size; ++r) {
    sent.write(out, r * elements * out.extent, elements, w.rank, r, seed);
    received.expect(in, r * elements * in.extent, elements, r, w.rank, seed);
  }
  w.runtime.alltoall({sent.data(), elements, out.type, received.data(), elements, in.type, w.comm}, native);
  w.validate(received, "alltoall", seed);
}

void check_alltoall_in_place(World& w, int elements, int type, unsigned seed, const run::Native& native) {
  const TestType& t = w.type(type);
  Buffer both(t.extent * elements * w.size);
  for (int r = 0; r < w.size; ++r) {
    both.write(t, r * elements * t.extent, elements, w.rank, r, seed);
    both.expect(t, r * elements * t.extent, elements, r, w.rank, seed);
  }
  w.runtime.alltoall({MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.data(), elements, t.type, w.comm}, native);
  w.validate(both, "alltoall in place", seed);
}

/// Elements of the block (a -> b): often none, mostly few, sometimes beyond what travels combined.
int count_of(unsigned seed, int a, int b) {
  const int kind = draw(seed, a, b, 1, 8);
  if (kind < 2) return 0;
  return kind == 7 ? 40 + draw(seed, a, b, 2, 60) : 1 + draw(seed, a, b, 2, 5);
}

/// Blocks in a shuffled order with gaps between them: displacements[r] in bytes for blocks of counts[r] * extents[r]
/// bytes.
long place_blocks(const std::vector<int>& counts, const std::vector<long>& extents, unsigned seed,
                  std::vector<int>& displacements) {
  std::vector<std::size_t> order(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::minstd_rand(seed + 1));
  long at = 0;
  for (const std::size_t r : order) {
    displacements[r] = static_cast<int>(at);
    at += counts[r] * extents[r] + extents[r];
  }
  return at;
}

struct Side {
  std::vector<int> counts, bytes, units;
  std::vector<MPI_Datatype> types;
  std::vector<long> extents;
  long total = 0;
};

/// One rank's view of an irregular call. mine(r): the block's (origin, destination) for peer r.
Side make_side(World& w, unsigned seed, bool sending, bool typed, bool symmetric, int salt) {
  Side s;
  for (int r = 0; r < w.size; ++r) {
    const int from = sending ? w.rank : r, to = sending ? r : w.rank;
    const int a = symmetric ? std::min(from, to) : from, b = symmetric ? std::max(from, to) : to;
    const TestType& type = w.type(typed ? (symmetric ? a * 7 + b : w.rank * 5 + r + salt) : salt);
    s.counts.push_back(count_of(seed, a, b));
    s.types.push_back(type.type);
    s.extents.push_back(type.extent);
  }
  s.bytes.resize(s.counts.size());
  s.total =
      place_blocks(s.counts, s.extents, seed * 31 + static_cast<unsigned>(w.rank * 2 + sending), s.bytes);
  for (std::size_t r = 0; r < s.counts.size(); ++r)
    s.units.push_back(static_cast<int>(s.bytes[r] / s.extents[r]));
  return s;
}

/// For MPI_Alltoallv displacements count elements: the type is one and the bytes are multiples of its extent.
const TestType& type_of(World& w, MPI_Datatype type) {
  for (const TestType& t : w.types)
    if (t.type == type) return t;
  std::abort();
}

void fill(World& w, const Side& side, Buffer& buffer, bool sending, bool expecting, unsigned seed) {
  for (int r = 0; r < w.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const TestType& type = type_of(w, side.types[i]);
    const int from = sending ? w.rank : r, to = sending ? r : w.rank;
    if (expecting) buffer.expect(type, side.bytes[i], side.counts[i], from, to, seed);
    else buffer.write(type, side.bytes[i], side.counts[i], from, to, seed);
  }
}

void check_alltoallv(World& w, bool in_place, unsigned seed, const run::Native& native) {
  const Side out = make_side(w, seed, true, false, in_place, 1),
             in = make_side(w, seed, false, false, in_place, in_place ? 1 : 4);
  Buffer sent(out.total), received(in.total);
  fill(w, out, sent, true, false, seed);
  if (in_place) fill(w, in, received, true, false, seed);
  fill(w, in, received, false, true, seed);
  const void* from = in_place ? MPI_IN_PLACE : static_cast<const void*>(sent.data());
  w.runtime.alltoallv({from, out.counts.data(), out.units.data(), out.types[0], received.data(),
                       in.counts.data(), in.units.data(), in.types[0], w.comm},
                      native);
  w.validate(received, in_place ? "alltoallv in place" : "alltoallv", seed);
}

void check_alltoallw(World& w, bool in_place, unsigned seed, const run::Native& native) {
  const Side out = make_side(w, seed, true, true, in_place, 0),
             in = make_side(w, seed, false, true, in_place, 3);
  Buffer sent(out.total), received(in.total);
  fill(w, out, sent, true, false, seed);
  if (in_place) fill(w, in, received, true, false, seed);
  fill(w, in, received, false, true, seed);
  const void* from = in_place ? MPI_IN_PLACE : static_cast<const void*>(sent.data());
  w.runtime.alltoallw({from, out.counts.data(), out.bytes.data(), out.types.data(), received.data(),
                       in.counts.data(), in.bytes.data(), in.types.data(), w.comm},
                      native);
  w.validate(received, in_place ? "alltoallw in place" : "alltoallw", seed);
}

/// The native call stands in where a strategy does not apply; elsewhere it must not be reached.
void check_all(World& w, unsigned seed) {
  const run::Native never = must_not_run_native;
  const int elements[] = {1, 3, 200};
  for (int i = 0; i < 3; ++i) {
    check_alltoall(w, elements[i], i, i + 1, seed + static_cast<unsigned>(i), never);
    check_alltoall_in_place(w, elements[i], i + 2, seed + 10u + static_cast<unsigned>(i), never);
  }
  for (unsigned i = 0; i < 3; ++i) {
    check_alltoallv(w, false, seed + 20 + i, never);
    check_alltoallw(w, false, seed + 30 + i, never);
  }
}

/// A fresh communicator on which Wherry is already at work.
MPI_Comm enabled_communicator(run::Runtime& runtime, int size) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> a(static_cast<std::size_t>(size), 1), b(a);
  for (int i = 0; i < 2; ++i)
    runtime.alltoall({a.data(), 1, MPI_INT, b.data(), 1, MPI_INT, comm},
                     [&] { return MPI_Alltoall(a.data(), 1, MPI_INT, b.data(), 1, MPI_INT, comm); });
  return comm;
}

/// Receives and probes of the program that match anything must not see Wherry's messages.
class Bystander {
 public:
  Bystander(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {
    MPI_Irecv(&got_, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &request_);
  }
  bool undisturbed() {
    int done = 0, flag = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(comm_);  // nobody sends before all have looked
    int mine = rank_ + 1000;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Isend(&mine, 1, MPI_INT, (rank_ + 1) % size_, 7, comm_, &send);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return !done && !flag && got_ == (rank_ + size_ - 1) % size_ + 1000;
  }

 private:
  MPI_Comm comm_;
  int rank_, size_, got_ = -1;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

struct Tally {
  long failures = 0, checks = 0;
};

void check_strategy(const schedule::Strategy& strategy, int ranks_per_node, unsigned seed, Tally& tally) {
  Settings settings;
  settings.ranks_per_node = ranks_per_node;
  settings.features.tuning = false;
  run::Runtime runtime(settings, mpi::linked_api(), nullptr);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1 || !strategy.applies(topology::Placement::blocked(size, ranks_per_node))) return;
  MPI_Comm comm = enabled_communicator(runtime, size);
  runtime.force(strategy.name);
  World w{comm,    rank,
          size,    test::make_types(),
          runtime, std::string(strategy.name) + " with " + std::to_string(ranks_per_node) + " ranks a node"};
  Bystander bystander(comm, rank, size);
  check_all(w, seed);
  if (strategy.name == "pairwise_xor") {
    check_alltoallv(w, true, seed + 40, must_not_run_native);
    check_alltoallw(w, true, seed + 41, must_not_run_native);
  }
  if (!bystander.undisturbed()) {
    ++w.failures;
    std::fprintf(stderr, "rank %d: %s disturbed the program's own receives\n", rank, w.label.c_str());
  }
  test::free_types(w.types);
  MPI_Comm_free(&comm);
  runtime.finalize();
  tally.failures += w.failures;
  tally.checks += w.checks;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = test::seed_from_environment();
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Tally tally;
  for (const schedule::Strategy& strategy : schedule::strategies())
    for (const int ranks_per_node : {1, 2, 3})
      if (ranks_per_node == 1 || ranks_per_node < size) check_strategy(strategy, ranks_per_node, seed, tally);
  long all[2] = {tally.failures, tally.checks}, sum[2] = {};
  MPI_Allreduce(all, sum, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("alltoall: %ld checks, %ld failures on %d ranks (seed %u)\n", sum[1], sum[0], size, seed);
  const bool empty = size > 1 && sum[1] == 0;
  MPI_Finalize();
  return sum[0] != 0 || empty;
}
