// Wherry for C++20: the collectives of wherry.h on ranges, with types deduced and errors as exceptions.
//
//   std::vector<double> send(ranks * n), receive(ranks * n);
//   wherry::alltoall(send, receive, MPI_COMM_WORLD);
//   wherry::allreduce(send, receive, wherry::op::sum{}, MPI_COMM_WORLD);
//
// The all-to-alls are here; what moves data with a root, or one block for all, is in collectives.hpp, reductions in
// reductions.hpp. This header has all of them.
//
// What wherry.h says holds here too: who owns what, order, threads, settings. In addition:
// - A range is contiguous memory with a size: std::vector, std::array, std::span. Its values are trivially copyable.
//   Arithmetic types and std::complex travel as MPI's types for them, any other as bytes.
// - usage_error: the arguments do not fit together. Local, thrown before any message: ranks with right arguments may
// wait.
// - mpi_error: MPI returned an error. It can be caught only where comm's error handler returns, as MPI_ERRORS_RETURN
//   does; MPI's default ends the program first.
// - "ranks" is the size of comm; of an intercommunicator, that of its remote group.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

#include "wherry/collectives.hpp"
#include "wherry/ranges.hpp"
#include "wherry/reductions.hpp"
#include "wherry/wherry.h"

namespace wherry {

/// Sends block d of `send` to rank d; block o of `receive` comes from rank o.
///
/// send: one block for each rank, one after the other, all of send.size() / ranks values; the same on all ranks; may be
///   empty. receive: as many values as send; they must not overlap.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if the sizes differ or are no multiple of the ranks; mpi_error.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoall.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void alltoall(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t ranks = detail::ranks(comm);
  const int count = detail::block_count<T>(std::ranges::size(send), ranks, "send");
  detail::check_as_many("alltoall", std::ranges::size(receive), std::ranges::size(send));
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_alltoall", wherry_alltoall(std::ranges::data(send), count, type,
                                                   std::ranges::data(receive), count, type, comm));
}

/// In place: block d of `data` goes to rank d, and what rank d sends here takes its place. All ranks must call this
/// form.
template <WritableValues Data>
void alltoall(Data&& data, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const int count = detail::block_count<T>(std::ranges::size(data), detail::ranks(comm), "data");
  detail::check("wherry_alltoall",
                wherry_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, std::ranges::data(data), count,
                                detail::datatype<T>(), comm));
}

/// Sends a block of any size to each rank: send_counts[d] values from send[send_displacements[d]] on go to rank d.
///
/// Counts and displacements have one entry per rank, in values (not bytes). What is received from rank o has the size
///   that o sends. Blocks of `receive` must not overlap each other or `send`.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if a block is not inside its range; mpi_error.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoallv.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void alltoallv(const Send& send, std::span<const int> send_counts, std::span<const int> send_displacements,
               Receive&& receive, std::span<const int> receive_counts,
               std::span<const int> receive_displacements, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t ranks = detail::ranks(comm);
  detail::check_blocks(ranks, "send", std::ranges::size(send), send_counts, send_displacements);
  detail::check_blocks(ranks, "receive", std::ranges::size(receive), receive_counts, receive_displacements);
  const detail::Scaled<T> out_counts(send_counts), out_begins(send_displacements);
  const detail::Scaled<T> in_counts(receive_counts), in_begins(receive_displacements);
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_alltoallv",
                wherry_alltoallv(std::ranges::data(send), out_counts.data(), out_begins.data(), type,
                                 std::ranges::data(receive), in_counts.data(), in_begins.data(), type, comm));
}

/// The same with blocks that lie one after the other, in the order of the ranks.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
void alltoallv(const Send& send, std::span<const int> send_counts, Receive&& receive,
               std::span<const int> receive_counts, MPI_Comm comm) {
  alltoallv(send, send_counts, detail::one_after_the_other(send_counts), receive, receive_counts,
            detail::one_after_the_other(receive_counts), comm);
}

/// In place: the blocks of `data`, one after the other, are exchanged; counts[d] is the same here and on rank d.
template <WritableValues Data>
void alltoallv(Data&& data, std::span<const int> counts, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const std::vector<int> displacements = detail::one_after_the_other(counts);
  detail::check_blocks(detail::ranks(comm), "data", std::ranges::size(data), counts, displacements);
  const detail::Scaled<T> scaled_counts(counts), begins(displacements);
  detail::check("wherry_alltoallv",
                wherry_alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, std::ranges::data(data),
                                 scaled_counts.data(), begins.data(), detail::datatype<T>(), comm));
}

/// One side of alltoallw: block r is counts[r] elements of types[r] at buffer + displacements[r] bytes. All three have
/// one entry per rank. The types are committed MPI types, which know their own layout: nothing checks the buffer's
/// size.
template <class Buffer>
struct TypedBlocks {
  Buffer* buffer;
  std::span<const int> counts;
  std::span<const int> displacements;  // bytes
  std::span<const MPI_Datatype> types;
};

/// Sends a block of any size and type to each rank.
///
/// Collective over comm. Returns when `receive` is complete. The two sides must not overlap.
/// Throws usage_error (local, before any message) if an array has not one entry per rank; mpi_error.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoallw.
inline void alltoallw(const TypedBlocks<const void>& send, const TypedBlocks<void>& receive, MPI_Comm comm) {
  const std::size_t ranks = detail::ranks(comm);
  detail::check_lengths(ranks, "send", {send.counts.size(), send.displacements.size(), send.types.size()});
  detail::check_lengths(ranks, "receive",
                        {receive.counts.size(), receive.displacements.size(), receive.types.size()});
  detail::check("wherry_alltoallw",
                wherry_alltoallw(send.buffer, send.counts.data(), send.displacements.data(),
                                 send.types.data(), receive.buffer, receive.counts.data(),
                                 receive.displacements.data(), receive.types.data(), comm));
}

}  // namespace wherry
