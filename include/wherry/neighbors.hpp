// Wherry for C++20, as wherry.hpp describes it: collectives among the neighbors of a communicator's topology, and their
// plans.
//
//   MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
//   std::vector<double> send(4 * n), receive(4 * n);   // west, east, south, north
//   wherry::neighbor_alltoall(send, receive, grid);
//
// What wherry.h says of neighborhoods holds here: how neighbors are numbered, and that blocks of MPI_PROC_NULL stay as
// they are, although they have a place in both ranges.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

#include "wherry/plan.hpp"

namespace wherry {

/// How many neighbors a rank sends to, and receives from, MPI_PROC_NULL among them.
struct Degrees {
  std::size_t targets;
  std::size_t sources;
};

/// Those of this rank. Local. Throws usage_error if comm has no topology; mpi_error.
inline Degrees degrees(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  detail::check("MPI_Topo_test", MPI_Topo_test(comm, &kind));
  if (kind == MPI_CART) {
    int dimensions = 0;
    detail::check("MPI_Cartdim_get", MPI_Cartdim_get(comm, &dimensions));
    const auto both = 2 * static_cast<std::size_t>(dimensions);
    return {both, both};
  }
  if (kind == MPI_GRAPH) {
    int rank = 0, neighbors = 0;
    detail::check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
    detail::check("MPI_Graph_neighbors_count", MPI_Graph_neighbors_count(comm, rank, &neighbors));
    return {static_cast<std::size_t>(neighbors), static_cast<std::size_t>(neighbors)};
  }
  if (kind != MPI_DIST_GRAPH)
    throw usage_error(
        "comm has no topology, so its ranks have no neighbors; make one of it by MPI_Cart_create or "
        "MPI_Dist_graph_create_adjacent");
  int in = 0, out = 0, weighted = 0;
  detail::check("MPI_Dist_graph_neighbors_count", MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  return {static_cast<std::size_t>(out), static_cast<std::size_t>(in)};
}

namespace detail {

/// Where the blocks of one side begin, one after the other; checked.
inline std::vector<int> near_displacements(const char* name, std::size_t neighbors, std::size_t values,
                                           std::span<const int> counts) {
  std::vector<int> displacements = one_after_the_other(counts);
  check_blocks(neighbors, name, values, counts, displacements, "neighbor");
  return displacements;
}

/// The counts and displacements of one side, checked and as MPI counts them.
template <class T>
struct NearBlocks {
  NearBlocks(const char* name, std::size_t neighbors, std::size_t values, std::span<const int> of)
      : displacements(near_displacements(name, neighbors, values, of)), counts(of), begins(displacements) {}
  NearBlocks(const NearBlocks&) = delete;  // `begins` may look into `displacements`
  NearBlocks& operator=(const NearBlocks&) = delete;

  std::vector<int> displacements;
  Scaled<T> counts, begins;
};

/// Equal blocks for all neighbors, checked: as many values to each as from each.
template <class T>
struct NearEqual {
  NearEqual(std::size_t sent, std::size_t received, const Degrees& near)
      : send(block_count<T>(sent, near.targets, "send", "neighbor")),
        receive(block_count<T>(received, near.sources, "receive", "neighbor")) {
    if (near.targets > 0 && near.sources > 0)
      check_all_blocks("receive", received, sent / near.targets, near.sources, "neighbor");
  }
  int send, receive;
  MPI_Datatype type = datatype<T>();
};

/// Blocks of any size, checked.
template <class T>
struct NearOfAnySize {
  NearOfAnySize(std::size_t sent, std::span<const int> send_counts, std::size_t received,
                std::span<const int> receive_counts, const Degrees& near)
      : send("send", near.targets, sent, send_counts),
        receive("receive", near.sources, received, receive_counts) {}
  NearBlocks<T> send, receive;
  MPI_Datatype type = datatype<T>();
};

/// One block for all neighbors, checked: how many values are in it, as MPI counts them.
template <class T>
int near_block(std::size_t sent, std::size_t received, const Degrees& near) {
  const int count = mpi_count<T>(sent);
  check_all_blocks("receive", received, sent, near.sources, "neighbor");
  return count;
}

}  // namespace detail

/// Sends block i of `send` to neighbor i; block i of `receive` comes from neighbor i.
///
/// send: one block for each neighbor that this rank sends to, one after the other, all of the same size on all ranks,
///   which may be 0. receive: one of that size for each that it receives from; they must not overlap.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if a size is no multiple of the neighbors, if blocks differ in size,
/// or there is no topology; mpi_error.
/// Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoall.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void neighbor_alltoall(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const detail::NearEqual<T> count(std::ranges::size(send), std::ranges::size(receive), degrees(comm));
  detail::check("wherry_neighbor_alltoall",
                wherry_neighbor_alltoall(std::ranges::data(send), count.send, count.type,
                                         std::ranges::data(receive), count.receive, count.type, comm));
}

/// The same with blocks of any size, one after the other: counts have one entry per neighbor, in values (not bytes). A
/// block that is received has the size that its sender sends.
///
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if a block is not inside its range, or there is no topology;
/// mpi_error.
/// Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoallv.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void neighbor_alltoallv(const Send& send, std::span<const int> send_counts, Receive&& receive,
                        std::span<const int> receive_counts, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const detail::NearOfAnySize<T> blocks(std::ranges::size(send), send_counts, std::ranges::size(receive),
                                        receive_counts, degrees(comm));
  detail::check(
      "wherry_neighbor_alltoallv",
      wherry_neighbor_alltoallv(std::ranges::data(send), blocks.send.counts.data(), blocks.send.begins.data(),
                                blocks.type, std::ranges::data(receive), blocks.receive.counts.data(),
                                blocks.receive.begins.data(), blocks.type, comm));
}

/// Sends `send` to all neighbors; block i of `receive` comes from neighbor i.
///
/// send: as many values on all ranks; may be empty. receive: one such block for each neighbor that this rank receives
///   from; they must not overlap.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if receive has not the size for all blocks, or there is no topology;
/// mpi_error.
/// Standard: MPI 4.1, section 8.6.1, MPI_Neighbor_allgather.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void neighbor_allgather(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const int count = detail::near_block<T>(std::ranges::size(send), std::ranges::size(receive), degrees(comm));
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_neighbor_allgather",
                wherry_neighbor_allgather(std::ranges::data(send), count, type, std::ranges::data(receive),
                                          count, type, comm));
}

/// As neighbor_alltoall(send, receive, comm). Collective over comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan neighbor_alltoall_plan(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const detail::NearEqual<T> count(std::ranges::size(send), std::ranges::size(receive), degrees(comm));
  return detail::plan("wherry_neighbor_alltoall_plan", wherry_neighbor_alltoall_plan, std::ranges::data(send),
                      count.send, count.type, std::ranges::data(receive), count.receive, count.type, comm);
}

/// As neighbor_alltoallv(send, send_counts, receive, receive_counts, comm). The counts are copied. Collective over
/// comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan neighbor_alltoallv_plan(const Send& send, std::span<const int> send_counts, Receive&& receive,
                             std::span<const int> receive_counts, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const detail::NearOfAnySize<T> blocks(std::ranges::size(send), send_counts, std::ranges::size(receive),
                                        receive_counts, degrees(comm));
  return detail::plan("wherry_neighbor_alltoallv_plan", wherry_neighbor_alltoallv_plan,
                      std::ranges::data(send), blocks.send.counts.data(), blocks.send.begins.data(),
                      blocks.type, std::ranges::data(receive), blocks.receive.counts.data(),
                      blocks.receive.begins.data(), blocks.type, comm);
}

/// As neighbor_allgather(send, receive, comm). Collective over comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan neighbor_allgather_plan(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const int count = detail::near_block<T>(std::ranges::size(send), std::ranges::size(receive), degrees(comm));
  const MPI_Datatype type = detail::datatype<T>();
  return detail::plan("wherry_neighbor_allgather_plan", wherry_neighbor_allgather_plan,
                      std::ranges::data(send), count, type, std::ranges::data(receive), count, type, comm);
}

}  // namespace wherry
