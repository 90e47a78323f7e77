// Irregular all-to-alls may have few blocks that are not empty: an algorithm that sends them straight is a candidate,
// whatever the model thinks of it, and it sends no message for a block of no bytes.
//
// ranks: 3 8
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coll/blocks/block_collectives.hpp"
#include "coll/choice/choosing.hpp"
#include "edge_bench.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int ranks_per_node = 4;

Settings on_nodes() {
  Settings settings = untuned();
  settings.ranks_per_node = ranks_per_node;
  return settings;
}

bool has_straight(const run::Choice& choice) {
  return std::ranges::any_of(choice.algorithms, [](const std::optional<run::Algorithm>& algorithm) {
    return algorithm && schedule::find_strategy(algorithm->name())->hops == schedule::Hops::single;
  });
}

long candidates_are_ready(run::Communicator& c, const Settings& settings) {
  run::Staging staging{settings.staging_max};
  run::Choosing choosing(
      settings, mpi::linked_api(), std::make_shared<run::AlgorithmCandidates>(), staging, std::nullopt,
      +[] { return 0.0; });
  long failures = 0;
  for (const Collective collective : {Collective::alltoallv, Collective::alltoallw})
    for (std::uint32_t bucket = 0; bucket < 24; ++bucket)
      failures += !has_straight(choosing.choice(c, {collective, Limit::none, bucket}, 0));
  if (failures != 0) std::fprintf(stderr, "%ld kinds of calls have no straight candidate\n", failures);
  return failures;
}

int sends = 0, receives = 0;

int count_send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  ++sends;
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

int count_receive(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  ++receives;
  return PMPI_Irecv(data, count, type, peer, tag, comm, request);
}

/// Every rank has a block for the next one only.
long one_neighbor_is_one_message(const Settings& settings) {
  mpi::Api api = mpi::linked_api();
  api.Isend = count_send;
  api.Irecv = count_receive;
  run::Communicator c(MPI_COMM_WORLD, settings, api);
  run::Staging staging(settings.staging_max);
  const auto next = static_cast<std::size_t>((c.rank() + 1) % c.size());
  const auto before = static_cast<std::size_t>((c.rank() + c.size() - 1) % c.size());
  std::vector<int> out = all(c.size(), 0), in = out, begins = out;
  out[next] = in[before] = 1;
  const int mine = c.rank();
  int got = -1;
  run::Blocks blocks;
  run::read_blocks(api,
                   run::Alltoallv{&mine, out.data(), begins.data(), MPI_INT, &got, in.data(), begins.data(),
                                  MPI_INT, MPI_COMM_WORLD},
                   c.size(), blocks);
  const run::Prepared& direct = run::prepared(c, *schedule::find_strategy("direct"));
  sends = receives = 0;
  const int code = run::perform_irregular(c, blocks, schedule::Hops::single, direct, direct, 3, staging);
  const bool right = code == MPI_SUCCESS && got == static_cast<int>(before) && sends == 1 && receives == 1;
  if (!right)
    std::fprintf(stderr, "rank %d: %d sends and %d receives for one block\n", c.rank(), sends, receives);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Settings settings = on_nodes();
  long failures = 0;
  {
    run::Communicator c(MPI_COMM_WORLD, settings, mpi::linked_api());
    failures += candidates_are_ready(c, settings);
  }
  failures += one_neighbor_is_one_message(settings);
  return concluded("few blocks", failures);
}
