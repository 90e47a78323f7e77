// Wherry for C++20, as wherry.hpp describes it: collectives that move data from one rank to all, or from all to one or
// all.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <ranges>

#include "wherry/ranges.hpp"
#include "wherry/wherry.h"

namespace wherry {

/// Collects a block from every rank on all ranks: block o of `receive` is `send` of rank o.
///
/// send: as many values on all ranks; may be empty. receive: ranks times as many; they must not overlap.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if receive has not the size for all blocks; mpi_error.
/// Standard: MPI 4.1, section 6.7, MPI_Allgather.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void allgather(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t ranks = detail::ranks(comm), all = std::ranges::size(receive);
  if (!detail::is_inter(comm)) detail::check_all_blocks("receive", all, std::ranges::size(send), ranks);
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_allgather",
                wherry_allgather(std::ranges::data(send), detail::mpi_count<T>(std::ranges::size(send)), type,
                                 std::ranges::data(receive), detail::block_count<T>(all, ranks, "receive"),
                                 type, comm));
}

/// In place: `data` holds a block for each rank, of which this rank's own is sent and the others arrive. All ranks must
/// call this form.
template <WritableValues Data>
void allgather(Data&& data, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const int count = detail::block_count<T>(std::ranges::size(data), detail::ranks(comm), "data");
  detail::check("wherry_allgather",
                wherry_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, std::ranges::data(data), count,
                                 detail::datatype<T>(), comm));
}

/// Sends `data` of the root to `data` of all other ranks.
///
/// data: as many values on all ranks. root: the same on all ranks.
/// Collective over comm. Returns when `data` has arrived or, at the root, may be written again.
/// Throws usage_error (local, before any message) if root is no rank; mpi_error.
/// Standard: MPI 4.1, section 6.4, MPI_Bcast.
template <WritableValues Data>
void bcast(Data&& data, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const detail::Part part = detail::part_of(comm, root);
  const std::size_t values = part.is_root || part.has_block ? std::ranges::size(data) : 0;
  detail::check("wherry_bcast", wherry_bcast(std::ranges::data(data), detail::mpi_count<T>(values),
                                             detail::datatype<T>(), root, comm));
}

/// Collects a block from every rank at the root: block o of its `receive` is `send` of rank o.
///
/// send: as many values on all ranks; may be empty. receive: at the root ranks times as many; elsewhere ignored, and
///   may be empty. They must not overlap. root: the same on all ranks.
/// Collective over comm. Returns when `receive` is complete or, elsewhere, `send` may be written again.
/// Throws usage_error (local, before any message) if root is no rank or its receive has not the size for all blocks;
/// mpi_error.
/// Standard: MPI 4.1, section 6.5, MPI_Gather.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void gather(const Send& send, Receive&& receive, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const auto [is_root, has_block] = detail::part_of(comm, root);
  const std::size_t ranks = detail::ranks(comm), all = is_root ? std::ranges::size(receive) : 0;
  const std::size_t mine = has_block ? std::ranges::size(send) : 0;
  if (is_root && has_block) detail::check_all_blocks("receive", all, mine, ranks);
  const MPI_Datatype type = detail::datatype<T>();
  detail::check(
      "wherry_gather",
      wherry_gather(std::ranges::data(send), detail::mpi_count<T>(mine), type, std::ranges::data(receive),
                    detail::block_count<T>(all, ranks, "receive"), type, root, comm));
}

/// In place: at the root, `data` holds a block for each rank, of which its own is there already; elsewhere `data` is
/// the block that is sent. All ranks must call this form.
template <WritableValues Data>
void gather(Data&& data, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const std::size_t values = std::ranges::size(data);
  const MPI_Datatype type = detail::datatype<T>();
  const int code =
      detail::part_of(comm, root).is_root
          ? wherry_gather(MPI_IN_PLACE, 0, type, std::ranges::data(data),
                          detail::block_count<T>(values, detail::ranks(comm), "data"), type, root, comm)
          : wherry_gather(std::ranges::data(data), detail::mpi_count<T>(values), type, nullptr, 0, type, root,
                          comm);
  detail::check("wherry_gather", code);
}

/// Spreads blocks from the root: `receive` of rank d is block d of the root's `send`.
///
/// send: at the root one block for each rank, one after the other; elsewhere ignored, and may be empty.
/// receive: one block, of as many values on all ranks; they must not overlap. root: the same on all ranks.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if root is no rank or its send has not the size of all blocks;
/// mpi_error.
/// Standard: MPI 4.1, section 6.6, MPI_Scatter.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void scatter(const Send& send, Receive&& receive, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const auto [is_root, has_block] = detail::part_of(comm, root);
  const std::size_t ranks = detail::ranks(comm), all = is_root ? std::ranges::size(send) : 0;
  const std::size_t mine = has_block ? std::ranges::size(receive) : 0;
  if (is_root && has_block) detail::check_all_blocks("send", all, mine, ranks);
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_scatter",
                wherry_scatter(std::ranges::data(send), detail::block_count<T>(all, ranks, "send"), type,
                               std::ranges::data(receive), detail::mpi_count<T>(mine), type, root, comm));
}

/// In place: at the root, `data` holds a block for each rank, of which its own stays there; elsewhere `data` is the
/// block that arrives. All ranks must call this form.
template <WritableValues Data>
void scatter(Data&& data, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const std::size_t values = std::ranges::size(data);
  const MPI_Datatype type = detail::datatype<T>();
  const int code = detail::part_of(comm, root).is_root
                       ? wherry_scatter(std::ranges::data(data),
                                        detail::block_count<T>(values, detail::ranks(comm), "data"), type,
                                        MPI_IN_PLACE, 0, type, root, comm)
                       : wherry_scatter(nullptr, 0, type, std::ranges::data(data),
                                        detail::mpi_count<T>(values), type, root, comm);
  detail::check("wherry_scatter", code);
}

/// Returns when all ranks have called it. Throws mpi_error.
/// Standard: MPI 4.1, section 6.3, MPI_Barrier.
inline void barrier(MPI_Comm comm) { detail::check("wherry_barrier", wherry_barrier(comm)); }

}  // namespace wherry
