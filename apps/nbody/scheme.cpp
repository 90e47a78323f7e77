#include "nbody/scheme.hpp"

#include <algorithm>
#include <cmath>

#include "nbody/covers.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"
#include "support/mpi/simulated.hpp"

namespace nbody {
namespace {

using Cost = SchemeRow::Cost;

constexpr double body_bytes = 3 * sizeof(double);
/// Of the time of a message what the processor has to do with it, about.
constexpr double processors_part = 1.0 / 6;

double triangle(double n) { return n * n / 2; }
double rounds(double p) { return std::ceil(std::log2(p)); }

/// What a rank sends in an allreduce of three numbers for each body: a reduce-scatter and an allgather.
double allreduce_bytes(double n, double p) { return 2 * body_bytes * n * (p - 1) / p; }
double gather_bytes(double n, double p) { return body_bytes * n * (p - 1) / p; }

Cost equal_cost(double n, double p) {
  // Rank 0 has the longest rows: n/p of them, n - n/(2p) long.
  return {n / p * (n - n / (2 * p)), allreduce_bytes(n, p) + gather_bytes(n, p), (2 + p) * rounds(p)};
}
Cost balanced_cost(double n, double p) {
  return {triangle(n) / p, allreduce_bytes(n, p) + gather_bytes(n, p), (2 + p) * rounds(p)};
}
Cost replicated_cost(double n, double p) { return {triangle(n) / p, allreduce_bytes(n, p), 2 * rounds(p)}; }
Cost overlapped_cost(double n, double p) {
  // The last block's bytes are not behind any computation; the messages of the other reductions cost the processor
  // only.
  const auto blocks =
      static_cast<double>(overlapped_blocks(static_cast<std::size_t>(n), static_cast<std::size_t>(p)));
  const double bytes = allreduce_bytes(n, p), last = bytes / blocks;
  return {triangle(n) / p, last, 2 * rounds(p) * (1 + (blocks - 1) * processors_part), bytes - last};
}
Cost allgathered_cost(double n, double p) { return {one_sided * n * n / p, gather_bytes(n, p), rounds(p)}; }
Cost half_ring_cost(double n, double p) {
  // Only the last meeting's result is waited for.
  const double block = body_bytes * n / p, met = std::floor(p / 2);
  return {triangle(n) / p, block, 2 + p * processors_part, (2 * met - 1) * block};
}
Cost quorum_cost(double n, double p) {
  // The first guest and the last result are waited for.
  const double block = body_bytes * n / p;
  const auto guests = static_cast<double>(difference_cover(static_cast<int>(p)).size() - 1);
  return {triangle(n) / p, 2 * block, 2 + 2 * guests * processors_part, 2 * (guests - 1) * block};
}
Cost grid_cost(double n, double p) {
  const GridShape shape = grid_shape(static_cast<int>(p));
  const double across = shape.columns, down = shape.rows;
  const double block = body_bytes * n / p;
  return {triangle(n) / p, 2 * block * (across - 1 + down - 1), 2 * (rounds(across) + rounds(down))};
}

const char* nothing_to_overlap(std::size_t bodies, int ranks, bool one_node) {
  if (one_node) return "all ranks are on one node";
  return overlapped_blocks(bodies, static_cast<std::size_t>(ranks)) == 1 ? "a rank computes too few pairs"
                                                                         : nullptr;
}

std::vector<SchemeRow> every_scheme() {
  return {
      {"equal", "as many rows of the triangle to each rank; an allreduce; places broadcast", false,
       equal_shares, equal_cost},
      {"balanced", "as many pairs to each rank; an allreduce; places broadcast", false, balanced_shares,
       balanced_cost},
      {"replicated", "as many pairs to each rank; an allreduce; every rank moves all bodies", false,
       replicated, replicated_cost},
      {"overlapped", "replicated, with the allreduce in blocks while the ranks compute", false, overlapped,
       overlapped_cost, "replicated", nothing_to_overlap},
      {"node", "replicated, added up in shared memory by the ranks of a node; an allreduce of nodes", false,
       node_shared, replicated_cost},
      {"allgather", "every rank pulls its own bodies only; places gathered", true, allgathered,
       allgathered_cost},
      {"ring", "blocks of bodies meet going half round a ring", false, half_ring, half_ring_cost},
      {"quorum", "every two blocks of bodies meet on a rank that has few of them", false, quorum,
       quorum_cost},
      {"grid", "rows of ranks meet columns of ranks", false, grid, grid_cost},
  };
}

}  // namespace

const std::vector<SchemeRow>& schemes() {
  static const std::vector<SchemeRow> all = [] {
    std::vector<SchemeRow> rows = every_scheme();
    // The simulator does not charge for what a rank reads in another's memory.
    if (apps::simulated) std::erase_if(rows, [](const SchemeRow& row) { return row.name == "node"; });
    return rows;
  }();
  return all;
}

Fitting scheme_for(MPI_Comm comm, std::size_t asked, std::size_t bodies) {
  const SchemeRow& row = schemes()[asked];
  const char* const why = row.why_instead(bodies, apps::size_of(comm), apps::on_one_node(comm));
  if (why == nullptr) return {asked};
  const auto instead = std::ranges::find(schemes(), row.instead, &SchemeRow::name);
  return {static_cast<std::size_t>(instead - schemes().begin()), why};
}

}  // namespace nbody
