// Neighborhood collectives through the runtime: what is asked for runs, ranks that learn agree whatever disturbs them,
// and what is native is so on all ranks.
//
// ranks: 2 5 8
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "learning_ranks.hpp"
#include "neighbor_topologies.hpp"
#include "schedule/graph/routed.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int light_calls = 16;  // before the communicator is enabled

struct Kit : Ranks {
  const mpi::Api& api = mpi::linked_api();

  Settings settings(int ranks_per_node, const std::string& strategy = "auto") const {
    Settings s;
    s.features.tuning = false;
    s.ranks_per_node = ranks_per_node;
    for (const Collective c : {Collective::neighbor_alltoall, Collective::neighbor_alltoallv,
                               Collective::neighbor_allgather, Collective::neighbor_allgatherv})
      s.strategies[index_of(c)] = strategy;
    return s;
  }
};

/// Calls on one communicator. Blocks tell their sender, their number and the call.
class Caller {
 public:
  Caller(Kit& kit, run::Runtime& runtime, const Neighbors& neighbors)
      : kit_(kit), runtime_(runtime), neighbors_(neighbors), comm_(neighbors.create(MPI_COMM_WORLD)) {
    const auto rank = static_cast<std::size_t>(kit.rank);
    out_ = neighbors.targets[rank].size();
    for (std::size_t i = 0; i < neighbors.sources[rank].size(); ++i)
      origins_.push_back(neighbors.origin_of(kit.rank, i));
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() { MPI_Comm_free(&comm_); }

  void equal(int count) {
    std::vector<int> from = sent(count), to(origins_.size() * static_cast<std::size_t>(count) + 1, -1);
    const int code = runtime_.neighbor_alltoall(
        {from.data(), count, MPI_INT, to.data(), count, MPI_INT, comm_},
        [&] { return MPI_Neighbor_alltoall(from.data(), count, MPI_INT, to.data(), count, MPI_INT, comm_); });
    expect(code == MPI_SUCCESS && to == received(count), "equal blocks went wrong");
  }

  /// One block for all neighbors; ranks may have different ones in the irregular form.
  void gathered(int count) {
    const auto length = [count](int rank) { return count + rank % 3; };
    const int mine = length(kit_.rank), widest = count + 2;
    const std::vector<int> from(static_cast<std::size_t>(widest) + 1, mark(kit_.rank, 0, 0));
    std::vector<int> to(origins_.size() * static_cast<std::size_t>(widest) + 1, -1), expected = to,
                                                                                     uneven = to;
    std::vector<int> in_counts, in_places;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const int rank = origins_[i].rank, first = static_cast<int>(i) * widest;
      in_counts.push_back(length(rank));
      in_places.push_back(first);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i) * count, count, mark(rank, 0, 0));
      std::fill_n(uneven.begin() + first, length(rank), mark(rank, 0, 0));
    }
    int code =
        runtime_.neighbor_allgather({from.data(), count, MPI_INT, to.data(), count, MPI_INT, comm_}, [&] {
          return MPI_Neighbor_allgather(from.data(), count, MPI_INT, to.data(), count, MPI_INT, comm_);
        });
    kit_.expect(code == MPI_SUCCESS && to == expected, "a gather of equal blocks went wrong");
    std::ranges::fill(to, -1);
    code = runtime_.neighbor_allgatherv(
        {from.data(), mine, MPI_INT, to.data(), in_counts.data(), in_places.data(), MPI_INT, comm_}, [&] {
          return MPI_Neighbor_allgatherv(from.data(), mine, MPI_INT, to.data(), in_counts.data(),
                                         in_places.data(), MPI_INT, comm_);
        });
    expect(code == MPI_SUCCESS && to == uneven, "a gather of uneven blocks went wrong");
  }

  /// Every third block is empty, for both who send it and receive it.
  void uneven(int count) {
    const auto length = [count](int number) { return number % 3 == 0 ? 0 : count; };
    std::vector<int> from = sent(count), to(origins_.size() * static_cast<std::size_t>(count) + 1, -1);
    std::vector<int> out_counts, out_places, in_counts, in_places;
    for (int i = 0; i < static_cast<int>(out_); ++i)
      out_counts.push_back(length(i)), out_places.push_back(i * count);
    std::vector<int> expected = received(count);
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      in_counts.push_back(length(origins_[i].number));
      in_places.push_back(static_cast<int>(i) * count);
      if (in_counts.back() == 0)
        for (int k = 0; k < count; ++k)
          expected[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(k)] = -1;
    }
    const int code = runtime_.neighbor_alltoallv(
        {from.data(), out_counts.data(), out_places.data(), MPI_INT, to.data(), in_counts.data(),
         in_places.data(), MPI_INT, comm_},
        [&] {
          return MPI_Neighbor_alltoallv(from.data(), out_counts.data(), out_places.data(), MPI_INT, to.data(),
                                        in_counts.data(), in_places.data(), MPI_INT, comm_);
        });
    expect(code == MPI_SUCCESS && to == expected, "uneven blocks went wrong");
  }

 private:
  void expect(bool holds, const char* what) {
    kit_.expect(holds, holds ? "" : (neighbors_.name + ": " + what).c_str());
    ++call_;
  }
  int mark(int rank, int number, int k) const { return ((call_ * 16 + rank) * 64 + number) * 4 + k % 4; }

  std::vector<int> sent(int count) const {
    std::vector<int> all;
    for (int i = 0; i < static_cast<int>(out_); ++i)
      for (int k = 0; k < count; ++k) all.push_back(mark(kit_.rank, i, k));
    all.push_back(0);
    return all;
  }
  std::vector<int> received(int count) const {
    std::vector<int> all;
    for (const Origin& origin : origins_)
      for (int k = 0; k < count; ++k)
        all.push_back(origin.rank == schedule::nobody ? -1 : mark(origin.rank, origin.number, k));
    all.push_back(-1);
    return all;
  }

  Kit& kit_;
  run::Runtime& runtime_;
  const Neighbors& neighbors_;
  MPI_Comm comm_;
  std::size_t out_ = 0;
  std::vector<Origin> origins_;
  int call_ = 0;
};

/// Everybody sends to everybody, itself included. No neighbor is repeated: for those, libraries differ.
Neighbors everybody(int size) {
  std::vector<std::vector<int>> targets;
  for (int rank = 0; rank < size; ++rank) {
    targets.emplace_back();
    for (int i = 0; i < size; ++i) targets.back().push_back((rank + i) % size);
  }
  return distributed_graph("everybody", targets, true);
}

/// A ring of all ranks but the last, which has no neighbors.
Neighbors ring_without_last(int size) {
  std::vector<std::vector<int>> targets(static_cast<std::size_t>(size));
  for (int rank = 0; rank + 1 < size; ++rank)
    targets[static_cast<std::size_t>(rank)] = {(rank + 1) % (size - 1)};
  return distributed_graph("ring without the last", targets, false);
}

void what_is_asked_for_runs(Kit& kit) {
  const Neighbors neighbors = everybody(kit.size);
  const schedule::Graph graph(neighbors.targets);
  const topology::Placement placement = topology::Placement::blocked(kit.size, 2);
  for (const schedule::Strategy& s : schedule::neighborhood_strategies()) {
    const Settings settings = kit.settings(2, std::string(s.name));
    Witness witness;
    run::Runtime runtime(settings, kit.api, &witness);
    {
      Caller caller(kit, runtime, neighbors);
      for (int i = 0; i < light_calls; ++i) caller.equal(1);
      for (const int count : {0, 1, 700}) caller.equal(count), caller.uneven(count), caller.gathered(count);
    }
    const bool applies = schedule::Routed(s, graph, placement).applies();
    kit.expect(witness.by_strategy[std::string(s.name)] == (applies ? 12 : 0), "another strategy ran");
    kit.expect(witness.fallbacks == (applies ? 0 : 12), "what cannot run is not reported");
    runtime.finalize();
  }
}

void ranks_that_learn_agree(Kit& kit) {
  const Settings settings = kit.settings(kit.size > 2 ? 2 : 1);
  Witness witness;
  run::Runtime runtime(settings, kit.api, &witness);
  Disturbance disturbance(kit, 20261122);
  const Neighbors neighbors = everybody(kit.size);
  {
    Caller caller(kit, runtime, neighbors);
    for (int i = 0; i < 150; ++i) {
      disturbance.strike();
      caller.equal(i % 50 < 40 ? 4 : 900);
      caller.uneven(i < 100 ? 3 : 2000);
    }
  }
  kit.expect(witness.calls == 300 - light_calls, "not all calls were the runtime's");
  kit.expect(witness.by_strategy.size() > 1, "nothing but one strategy ran");
  kit.expect(witness.decisions[profile::Reason::kept] > 0, "nothing was decided");
  kit.expect(kit.agree(witness.history), "ranks ran different strategies");
  runtime.finalize();
}

/// A rank without neighbors may give any counts, or none at all; it learns with the others.
void a_rank_without_neighbors_takes_part(Kit& kit) {
  if (kit.size < 4) return;
  const Settings settings = kit.settings(1);
  Witness witness;
  run::Runtime runtime(settings, kit.api, &witness);
  const Neighbors neighbors = ring_without_last(kit.size);
  const bool alone = kit.rank == kit.size - 1;
  MPI_Comm comm = neighbors.create(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) {
    int from = kit.rank + 1000 * i, to = -1;
    const int one = 1, none = 0, count = alone ? 0 : 1;
    const MPI_Datatype type = alone ? MPI_BYTE : MPI_INT;
    int code = runtime.neighbor_alltoall({&from, count, type, &to, count, type, comm}, [&] {
      return MPI_Neighbor_alltoall(&from, count, type, &to, count, type, comm);
    });
    const int before = (kit.rank + kit.size - 2) % (kit.size - 1) + 1000 * i;
    kit.expect(code == MPI_SUCCESS && to == (alone ? -1 : before), "the ring went wrong");
    const int* const counts = alone && i >= light_calls ? nullptr : &one;
    code = runtime.neighbor_alltoallv({&from, counts, &none, type, &to, counts, &none, type, comm}, [&] {
      return MPI_Neighbor_alltoallv(&from, &one, &none, type, &to, &one, &none, type, comm);
    });
    kit.expect(code == MPI_SUCCESS, "the ring of uneven blocks went wrong");
  }
  MPI_Comm_free(&comm);
  kit.expect(witness.calls == 200 - light_calls, "not all calls were the runtime's");
  kit.expect(kit.agree(witness.history), "ranks ran different strategies");
  runtime.finalize();
}

/// What Wherry asks the library.
int questions = 0;

int ask_attribute(MPI_Comm comm, int key, void* value, int* found) {
  ++questions;
  return PMPI_Comm_get_attr(comm, key, value, found);
}

int ask_topology(MPI_Comm comm, int* kind) {
  ++questions;
  return PMPI_Topo_test(comm, kind);
}

int ask_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  ++questions;
  return PMPI_Type_get_extent(type, lower, extent);
}

void few_on_one_node_are_native(Kit& kit) {
  const Neighbors ring = cartesian({kit.size}, false);
  mpi::Api api = kit.api;
  api.Comm_get_attr = ask_attribute;
  api.Topo_test = ask_topology;
  api.Type_get_extent = ask_extent;
  for (const bool named : {false, true}) {
    const Settings settings = kit.settings(kit.size, named ? "direct" : "auto");
    Witness witness;
    run::Runtime runtime(settings, api, &witness);
    {
      Caller caller(kit, runtime, ring);
      for (int i = 0; i <= light_calls; ++i) caller.equal(2);
      questions = 0;
      for (int i = 0; i < 3; ++i) caller.equal(2);
      kit.expect(named || questions == 0, "a native call is looked at");
    }
    kit.expect(witness.fallbacks == (named ? 0 : 4), "what is native is not reported");
    kit.expect(witness.calls == (named ? 4 : 0), "a strategy ran, or none that was asked for");
    runtime.finalize();
  }
}

/// The library says what is wrong with it. A rank that calls in error may be alone, and must not wait for the others.
void without_a_topology_it_is_native(Kit& kit) {
  const Settings settings = kit.settings(1);
  Witness witness;
  run::Runtime runtime(settings, kit.api, &witness);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i <= light_calls; ++i) runtime.barrier({comm}, [&] { return MPI_Barrier(comm); });
  int number = 0, natives = 0;
  for (int i = 0; kit.rank == 0 && i < 3; ++i)
    runtime.neighbor_alltoall({&number, 1, MPI_INT, &number, 1, MPI_INT, comm},
                              [&] { return ++natives, MPI_SUCCESS; });
  kit.expect(natives == (kit.rank == 0 ? 3 : 0), "a communicator without a topology was taken for one with");
  MPI_Comm_free(&comm);
  runtime.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kit kit;
  MPI_Comm_rank(MPI_COMM_WORLD, &kit.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &kit.size);
  what_is_asked_for_runs(kit);
  ranks_that_learn_agree(kit);
  a_rank_without_neighbors_takes_part(kit);
  few_on_one_node_are_native(kit);
  without_a_topology_it_is_native(kit);
  long sum = 0;
  MPI_Allreduce(&kit.failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (kit.rank == 0) std::printf("neighbor choice: %ld failures\n", sum);
  MPI_Finalize();
  return sum != 0;
}
