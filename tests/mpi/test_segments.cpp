// Every strategy of every collective on segments does to the caller's memory what the native collective does, byte by
// byte, gaps included.
//
// ranks: 1 2 3 5 7 8 13
// Runs under mpiexec at any number of ranks; WHERRY_TEST_SEED changes the random data.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "../seed.hpp"
#include "coll/segments/segment_collectives.hpp"
#include "segment_types.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;
using schedule::Operation;

struct World {
  MPI_Comm comm;
  const mpi::Api& api;
  const Types& types;
  unsigned seed;
  int rank, size;
  run::Staging staging{std::size_t{1} << 24};
  run::SegmentCall call = {};  // the one at hand
  long checks = 0, failures = 0;
};

/// One call to check: by which strategy, with how many elements, and the variant of its types and buffers.
struct Case {
  run::Communicator& c;
  const schedule::SegmentStrategy& strategy;
  int depth;
  int root;
  int elements;
  unsigned variant;
};

/// Performs w.call; returns an MPI code.
int perform(World& w, const Case& k) {
  return run::perform_segments(k.c, run::prepared(k.c, k.strategy, k.depth, w.call.root), w.call, w.staging);
}

using Memory = std::vector<std::byte>;

/// Random bytes for `elements` elements of `type`, and some behind them that nobody may touch.
Memory random_memory(World& w, long long elements, const Type& type) {
  constexpr std::size_t guard = 64;
  std::seed_seq sequence{w.seed, static_cast<unsigned>(w.rank), static_cast<unsigned>(w.checks)};
  std::mt19937 draw(sequence);
  Memory memory(static_cast<std::size_t>(elements * type.extent) + guard);
  for (std::byte& b : memory) b = static_cast<std::byte>(draw());
  if (type.reals) make_reals(memory);
  return memory;
}

void validate(World& w, const Case& k, bool right) {
  ++w.checks;
  if (right) return;
  ++w.failures;
  std::fprintf(
      stderr,
      "rank %d of %d: %s by %s, root %d, depth %d, %d elements, %d nodes, variant %u: wrong (seed %u)\n",
      w.rank, w.size, schedule::name(k.strategy.operation).data(), k.strategy.name.data(), k.root, k.depth,
      k.elements, k.c.placement().nodes(), k.variant, w.seed);
}

/// Both start from the same memory. `source` must stay as it is, and need not be another than `result`.
template <class Call, class Native>
void compare(World& w, const Case& k, const Call& call, const Memory& source, Memory& result,
             const Native& native) {
  const Memory source_before = source, before = result;
  native();
  const Memory expected = result;
  result = before;
  run::read_segments(w.api, call, {w.rank, w.size}, w.call);
  const bool ran = w.call.valid && perform(w, k) == MPI_SUCCESS;
  validate(w, k, ran && result == expected && (&source == &result || source == source_before));
}

/// Types of the two sides of a call that moves data: of equal signature. In place, the send side is left out.
struct Movement {
  const Type& send;
  const Type& receive;
  bool in_place;
};

Movement movement_of(const World& w, const Case& k) {
  const Types& t = w.types;
  const Movement movements[] = {{t.dense, t.dense, false},  {t.gapped, t.dense, false},
                                {t.dense, t.gapped, false}, {t.shifted, t.gapped, false},
                                {t.dense, t.dense, true},   {t.gapped, t.gapped, true}};
  return movements[k.variant % std::size(movements)];
}

void check_allgather(World& w, const Case& k) {
  const auto [send, receive, in_place] = movement_of(w, k);
  const Memory mine = random_memory(w, k.elements, send);
  Memory all = random_memory(w, static_cast<long long>(k.elements) * w.size, receive);
  const void* const from = in_place ? MPI_IN_PLACE : mine.data();
  const run::Allgather call{from, k.elements, send.type, all.data(), k.elements, receive.type, w.comm};
  compare(w, k, call, mine, all,
          [&] { MPI_Allgather(from, k.elements, send.type, all.data(), k.elements, receive.type, w.comm); });
}

/// Block i of a call whose blocks differ: some are empty, and the largest is much larger than the average.
std::vector<int> uneven(const World& w, const Case& k) {
  std::vector<int> counts;
  for (int i = 0; i < w.size; ++i) counts.push_back(i % 3 == 1 ? 0 : k.elements * (1 + i % 4) / 2);
  return counts;
}

/// In the order of ranks with gaps, or in the opposite one.
std::vector<int> places(const std::vector<int>& counts, bool backwards, int gap) {
  std::vector<int> at(counts.size());
  int next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t block = backwards ? counts.size() - 1 - i : i;
    at[block] = next;
    next += counts[block] + gap;
  }
  return at;
}

void check_allgatherv(World& w, const Case& k) {
  const auto [send, receive, in_place] = movement_of(w, k);
  const std::vector<int> counts = uneven(w, k);
  const int gap = k.variant % 2 == 0 ? 0 : 3;
  const std::vector<int> at = places(counts, k.variant % 4 == 3, gap);
  const int mine_count = counts[static_cast<std::size_t>(w.rank)];
  const Memory mine = random_memory(w, mine_count, send);
  Memory all = random_memory(w, std::accumulate(counts.begin(), counts.end(), gap * w.size), receive);
  const void* const from = in_place ? MPI_IN_PLACE : mine.data();
  const run::Allgatherv call{from,          mine_count, send.type,    all.data(),
                             counts.data(), at.data(),  receive.type, w.comm};
  compare(w, k, call, mine, all, [&] {
    MPI_Allgatherv(from, mine_count, send.type, all.data(), counts.data(), at.data(), receive.type, w.comm);
  });
}

/// The root may describe its data in another way than the others.
void check_bcast(World& w, const Case& k) {
  const auto [send, receive, in_place] = movement_of(w, k);
  const Type& type = w.rank == k.root ? send : receive;
  Memory data = random_memory(w, k.elements, type);
  const run::Bcast call{data.data(), k.elements, type.type, k.root, w.comm};
  compare(w, k, call, data, data, [&] { MPI_Bcast(data.data(), k.elements, type.type, k.root, w.comm); });
}

void check_gather(World& w, const Case& k) {
  const auto [send, receive, in_place] = movement_of(w, k);
  const bool is_root = w.rank == k.root;
  const Memory mine = random_memory(w, k.elements, send);
  Memory all = random_memory(w, is_root ? static_cast<long long>(k.elements) * w.size : 0, receive);
  const void* const from = in_place && is_root ? MPI_IN_PLACE : mine.data();
  const run::Gather call{from, k.elements, send.type, all.data(), k.elements, receive.type, k.root, w.comm};
  compare(w, k, call, mine, all, [&] {
    MPI_Gather(from, k.elements, send.type, all.data(), k.elements, receive.type, k.root, w.comm);
  });
}

void check_scatter(World& w, const Case& k) {
  const auto [send, receive, in_place] = movement_of(w, k);
  const bool is_root = w.rank == k.root;
  const Memory all = random_memory(w, is_root ? static_cast<long long>(k.elements) * w.size : 0, send);
  Memory mine = random_memory(w, k.elements, receive);
  void* const to = in_place && is_root ? MPI_IN_PLACE : mine.data();
  const run::Scatter call{all.data(), k.elements, send.type, to, k.elements, receive.type, k.root, w.comm};
  compare(w, k, call, all, mine, [&] {
    MPI_Scatter(all.data(), k.elements, send.type, to, k.elements, receive.type, k.root, w.comm);
  });
}

/// What is reduced, and where from.
struct Folding {
  const Type& type;
  MPI_Op op;
  bool in_place;
};

Folding folding_of(const World& w, const Case& k) {
  const Types& t = w.types;
  const bool keeps_order = k.strategy.keeps_order(k.c.placement());
  const MPI_Op own = keeps_order ? t.composing : t.adding;
  const Folding foldings[] = {{t.pair, own, false},
                              {t.dense, MPI_BXOR, false},
                              {t.real, MPI_MAX, false},
                              {t.pair, own, true},
                              {t.dense, MPI_SUM, true}};
  return foldings[k.variant % std::size(foldings)];
}

void check_reduce(World& w, const Case& k) {
  const auto [type, op, in_place] = folding_of(w, k);
  const bool is_root = w.rank == k.root;
  const Memory mine = random_memory(w, k.elements, type);
  Memory result = random_memory(w, is_root ? k.elements : 0, type);
  const void* const from = in_place && is_root ? MPI_IN_PLACE : mine.data();
  const run::Reduce call{from, result.data(), k.elements, type.type, op, k.root, w.comm};
  // Not in place in the library: MPICH 4.0 reads the root's MPI_IN_PLACE as an address, on 3, 5, 6 or 7 ranks.
  const Memory input = from == MPI_IN_PLACE ? result : mine;
  compare(w, k, call, mine, result,
          [&] { MPI_Reduce(input.data(), result.data(), k.elements, type.type, op, k.root, w.comm); });
}

void check_allreduce(World& w, const Case& k) {
  const auto [type, op, in_place] = folding_of(w, k);
  const Memory mine = random_memory(w, k.elements, type);
  Memory result = random_memory(w, k.elements, type);
  const void* const from = in_place ? MPI_IN_PLACE : mine.data();
  const run::Allreduce call{from, result.data(), k.elements, type.type, op, w.comm};
  compare(w, k, call, mine, result,
          [&] { MPI_Allreduce(from, result.data(), k.elements, type.type, op, w.comm); });
}

/// What the operands' places decide is decided alike on all ranks: programs leave their loops by such maxima.
void check_agreement(World& w, const Case& k) {
  constexpr double values[] = {std::numeric_limits<double>::quiet_NaN(), 0.0, -0.0, 1.0, -1.0};
  std::seed_seq sequence{w.seed, static_cast<unsigned>(w.rank), static_cast<unsigned>(w.checks)};
  std::mt19937 draw(sequence);
  std::vector<double> mine(static_cast<std::size_t>(k.elements)), result(mine);
  for (double& value : mine) value = values[draw() % std::size(values)];
  const MPI_Op op = k.variant % 2 == 0 ? MPI_MAX : MPI_MIN;
  const run::Allreduce call{mine.data(), result.data(), k.elements, MPI_DOUBLE, op, w.comm};
  run::read_segments(w.api, call, {w.rank, w.size}, w.call);
  const bool ran = w.call.valid && perform(w, k) == MPI_SUCCESS;
  std::vector<double> of_root = result;
  MPI_Bcast(of_root.data(), k.elements, MPI_DOUBLE, 0, w.comm);
  constexpr auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  validate(w, k, ran && std::ranges::equal(of_root, result, {}, bits, bits));
}

/// In place, the standard defines only the block of the result; the rest of the input is the library's to use.
template <class Call, class Native>
void compare_scattered(World& w, const Case& k, const Call& call, const Memory& mine, Memory& result,
                       std::size_t defined, const Native& native) {
  if (call.sendbuf != MPI_IN_PLACE) return compare(w, k, call, mine, result, native);
  const Memory before = result;
  native();
  const Memory expected = result;
  result = before;
  run::read_segments(w.api, call, {w.rank, w.size}, w.call);
  const bool ran = w.call.valid && perform(w, k) == MPI_SUCCESS;
  validate(w, k, ran && std::memcmp(result.data(), expected.data(), defined) == 0);
}

void check_reduce_scatter_block(World& w, const Case& k) {
  const auto [type, op, in_place] = folding_of(w, k);
  const long long all = static_cast<long long>(k.elements) * w.size;
  const Memory mine = random_memory(w, all, type);
  Memory result = random_memory(w, in_place ? all : k.elements, type);
  const void* const from = in_place ? MPI_IN_PLACE : mine.data();
  const run::ReduceScatterBlock call{from, result.data(), k.elements, type.type, op, w.comm};
  compare_scattered(w, k, call, mine, result, static_cast<std::size_t>(k.elements * type.extent), [&] {
    MPI_Reduce_scatter_block(from, result.data(), k.elements, type.type, op, w.comm);
  });
}

void check_reduce_scatter(World& w, const Case& k) {
  const auto [type, op, in_place] = folding_of(w, k);
  const std::vector<int> counts = uneven(w, k);
  const int all = std::accumulate(counts.begin(), counts.end(), 0);
  const int own = counts[static_cast<std::size_t>(w.rank)];
  const Memory mine = random_memory(w, all, type);
  Memory result = random_memory(w, in_place ? all : own, type);
  const void* const from = in_place ? MPI_IN_PLACE : mine.data();
  const run::ReduceScatter call{from, result.data(), counts.data(), type.type, op, w.comm};
  compare_scattered(w, k, call, mine, result, static_cast<std::size_t>(own * type.extent),
                    [&] { MPI_Reduce_scatter(from, result.data(), counts.data(), type.type, op, w.comm); });
}

/// That it ends on all ranks is what can be seen of it.
void check_barrier(World& w, const Case& k) {
  run::read_segments(w.api, run::Barrier{w.comm}, {w.rank, w.size}, w.call);
  validate(w, k, w.call.valid && perform(w, k) == MPI_SUCCESS);
}

void check(World& w, const Case& k) {
  switch (k.strategy.operation) {
    case Operation::allgather: check_allgather(w, k); return check_allgatherv(w, k);
    case Operation::bcast: return check_bcast(w, k);
    case Operation::gather: return check_gather(w, k);
    case Operation::scatter: return check_scatter(w, k);
    case Operation::reduce: return check_reduce(w, k);
    case Operation::allreduce: check_allreduce(w, k); return check_agreement(w, k);
    case Operation::reduce_scatter: check_reduce_scatter_block(w, k); return check_reduce_scatter(w, k);
    case Operation::barrier: return check_barrier(w, k);
  }
}

/// The roots to check, or how often where there is none. Many ranks on few processors take long: there each placement
/// of the ranks (number `turn`) has a root of its own.
std::vector<int> roots_for(const World& w, bool rooted, unsigned turn) {
  constexpr int few_ranks = 5;
  const std::vector<int> all = rooted ? std::vector{0, w.size / 2, w.size - 1} : std::vector{0, 0};
  return w.size <= few_ranks ? all : std::vector{all[turn % all.size()]};
}

/// The variants go around, so that every strategy meets all of them.
void check_all(World& w, run::Communicator& c, unsigned turn) {
  unsigned variant = turn;
  for (const schedule::SegmentStrategy& strategy : schedule::segment_strategies()) {
    if (!strategy.applies(c.placement())) continue;
    const bool rooted = schedule::has_root(strategy.operation);
    for (const int root : roots_for(w, rooted, turn))
      for (const int depth : schedule::is_pipelined(strategy) ? std::vector{1, 4} : std::vector{1})
        for (const int elements : {0, 1, 7, 1000}) check(w, {c, strategy, depth, root, elements, variant++});
  }
}

/// On one node, and on nodes of two and three ranks.
int checked() {
  const Types types;
  World w{.comm = MPI_COMM_WORLD,
          .api = mpi::linked_api(),
          .types = types,
          .seed = test::seed_from_environment(),
          .rank = 0,
          .size = 1};
  MPI_Comm_rank(w.comm, &w.rank);
  MPI_Comm_size(w.comm, &w.size);
  unsigned turn = 0;
  for (const int per_node : {w.size, 2, 3}) {
    Settings settings;
    settings.ranks_per_node = per_node;
    run::Communicator c(w.comm, settings, w.api);
    check_all(w, c, turn++);
  }
  std::printf("rank %d: %ld checks, %ld failures\n", w.rank, w.checks, w.failures);
  return w.failures == 0 && w.checks > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = checked();
  MPI_Finalize();
  return code;
}
