// Every strategy of every collective on segments gives what the library's own collective gives, to the last bit where
// numbers are added.
//
// Runs under mpiexec at any number of ranks; WHERRY_TEST_SEED changes the random data.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mpi/api.hpp"
#include "run/segments/perform.hpp"

namespace {

using namespace wherry;
using plan::Operation;
using Data = std::vector<std::int64_t>;

constexpr std::int64_t guard = 0x5A5A5A5A5A5A5A5A;

/// f(x) = a x + b on pairs (a, b): composing such functions is associative and does not commute.
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint64_t*>(in);
  auto* second = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i + 1 < 2 * *count; i += 2) {
    second[i + 1] += first[i + 1] * second[i];
    second[i] *= first[i];
  }
}

/// Commutes: for strategies that reduce in another order.
void add(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint64_t*>(in);
  auto* second = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < 2 * *count; ++i) second[i] += first[i];
}

struct World {
  MPI_Comm comm;
  int rank, size;
  run::Channel channel;
  run::Requests requests;
  run::Staging staging{std::size_t{1} << 24};
  MPI_Datatype pair;  // two 64-bit integers
  MPI_Op composing, adding;
  unsigned seed;
  long checks = 0, failures = 0;
};

/// One collective, in the terms of its buffer: which elements a rank has before, and which it must have after.
struct Case {
  const plan::SegmentStrategy& strategy;
  const plan::Shape& shape;
  plan::Parameters parameters;
  int elements;  // pairs: of each block, or of all data
};

run::Cut cut_of(const Case& c, int segments) {
  const bool in_blocks = segments == c.shape.size() && c.strategy.operation != Operation::bcast &&
                         c.strategy.operation != Operation::reduce &&
                         c.strategy.operation != Operation::allreduce;
  return {.units = static_cast<long long>(c.elements) * (in_blocks ? segments : 1),
          .unit_bytes = 16,
          .segments = segments};
}

Data random_data(const World& w, std::size_t numbers, int salt) {
  std::seed_seq sequence{w.seed, static_cast<unsigned>(w.rank), static_cast<unsigned>(salt)};
  std::mt19937_64 draw(sequence);
  Data data(numbers);
  for (std::int64_t& number : data) number = static_cast<std::int64_t>(draw());
  return data;
}

MPI_Op operation_for(const World& w, const Case& c) {
  return c.strategy.keeps_order(c.shape) ? w.composing : w.adding;
}

/// What the library makes of `mine`, in the places where this rank has a result; the others are left alone.
void by_library(const World& w, const Case& c, const Data& mine, Data& result) {
  const int n = c.elements, root = c.parameters.root;
  const MPI_Op op = operation_for(w, c);
  const auto own = static_cast<std::ptrdiff_t>(2) * n * w.rank;
  switch (c.strategy.operation) {
    case Operation::allgather:
      MPI_Allgather(mine.data() + own, n, w.pair, result.data(), n, w.pair, w.comm);
      break;
    case Operation::bcast:
      if (w.rank == root) result = mine;
      MPI_Bcast(result.data(), n, w.pair, root, w.comm);
      break;
    case Operation::gather:
      MPI_Gather(mine.data() + own, n, w.pair, result.data(), n, w.pair, root, w.comm);
      break;
    case Operation::scatter:
      MPI_Scatter(mine.data(), n, w.pair, result.data() + own, n, w.pair, root, w.comm);
      break;
    case Operation::reduce: MPI_Reduce(mine.data(), result.data(), n, w.pair, op, root, w.comm); break;
    case Operation::allreduce: MPI_Allreduce(mine.data(), result.data(), n, w.pair, op, w.comm); break;
    case Operation::reduce_scatter:
      MPI_Reduce_scatter_block(mine.data(), result.data() + own, n, w.pair, op, w.comm);
      break;
    case Operation::barrier: MPI_Barrier(w.comm); break;
  }
}

/// A barrier has none: that it ends on all ranks is what can be seen of it.
bool has_result(const World& w, const Case& c) {
  const Operation o = c.strategy.operation;
  if (o == Operation::barrier) return false;
  return (o != Operation::gather && o != Operation::reduce) || w.rank == c.parameters.root;
}

/// The part of the buffer that holds the result of this rank, in numbers.
std::pair<std::size_t, std::size_t> place_of_result(const World& w, const Case& c, std::size_t all) {
  const Operation o = c.strategy.operation;
  const bool one_block = o == Operation::scatter || o == Operation::reduce_scatter;
  const auto block = static_cast<std::size_t>(2 * c.elements), rank = static_cast<std::size_t>(w.rank);
  if (!has_result(w, c)) return {0, 0};
  return one_block ? std::pair{block * rank, block * (rank + 1)} : std::pair{std::size_t{0}, all};
}

void check(World& w, const Case& c) {
  const int segments = c.strategy.segments(c.shape, c.parameters);
  const run::Cut cut = cut_of(c, segments);
  const auto numbers = static_cast<std::size_t>(cut.total() / 8);
  const Data mine = random_data(w, numbers, c.elements);
  Data expected(numbers + 1, guard), buffer = mine;
  by_library(w, c, mine, expected);
  buffer.push_back(guard);

  const run::PreparedSegments prepared = run::prepare(c.strategy, c.shape, w.rank, c.parameters);
  const run::Reduction reduction(w.channel.api(), operation_for(w, c), w.pair, 16, false);
  const int code =
      run::perform_segments(w.channel, prepared, cut, reinterpret_cast<std::byte*>(buffer.data()), &reduction,
                            w.requests, w.staging);
  const auto [first, last] = place_of_result(w, c, numbers);
  const auto from = static_cast<std::ptrdiff_t>(first), to = static_cast<std::ptrdiff_t>(last);
  const bool right = code == MPI_SUCCESS && buffer.back() == guard &&
                     std::equal(buffer.begin() + from, buffer.begin() + to, expected.begin() + from);
  ++w.checks;
  if (right) return;
  ++w.failures;
  std::fprintf(stderr, "rank %d of %d: %s by %s, root %d, depth %d, %d elements, %d nodes: wrong (seed %u)\n",
               w.rank, w.size, plan::name(c.strategy.operation).data(), c.strategy.name.data(),
               c.parameters.root, c.parameters.depth, c.elements, c.shape.nodes(), w.seed);
}

void check_all(World& w, const plan::Shape& shape) {
  for (const plan::SegmentStrategy& strategy : plan::segment_strategies()) {
    if (!strategy.applies(shape)) continue;
    const bool rooted = plan::has_root(strategy.operation);
    for (const int root : rooted ? std::vector{0, w.size / 2, w.size - 1} : std::vector{0})
      for (const int depth : plan::is_pipelined(strategy) ? std::vector{1, 4} : std::vector{1})
        for (const int elements : {0, 1, 7, 1000}) check(w, {strategy, shape, {root, depth}, elements});
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const char* text = std::getenv("WHERRY_TEST_SEED");
  World w{.comm = MPI_COMM_WORLD,
          .rank = 0,
          .size = 1,
          .channel = run::Channel(mpi::linked_api(), own, run::Waiting::yielding),
          .requests = {},
          .pair = MPI_DATATYPE_NULL,
          .composing = MPI_OP_NULL,
          .adding = MPI_OP_NULL,
          .seed = text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 20261122U};
  MPI_Comm_rank(w.comm, &w.rank);
  MPI_Comm_size(w.comm, &w.size);
  MPI_Type_contiguous(2, MPI_INT64_T, &w.pair);
  MPI_Type_commit(&w.pair);
  MPI_Op_create(compose, 0, &w.composing);
  MPI_Op_create(add, 1, &w.adding);

  for (const int per_node : {w.size, 2, 3}) check_all(w, plan::Shape::blocked(w.size, per_node));

  MPI_Op_free(&w.adding);
  MPI_Op_free(&w.composing);
  MPI_Type_free(&w.pair);
  MPI_Comm_free(&own);
  std::printf("rank %d: %ld checks, %ld failures\n", w.rank, w.checks, w.failures);
  MPI_Finalize();
  return w.failures == 0 && w.checks > 0 ? 0 : 1;
}
