// Wherry for C++20: plans, which are collectives whose arguments are fixed, to be started again and again.
//
//   wherry::Plan step = wherry::alltoall_plan(send, receive, comm);
//   for (...) {
//     step.start();
//     compute_inside();
//     step.wait();
//   }
//
// What wherry.h says of wherry_plan holds here too: memory and communicator must be there until the plan is gone, and
// all ranks start their plans in one order. A range is taken by its memory, so it must not be resized meanwhile. Errors
// are as in wherry.hpp: the makers throw usage_error (local) where the arguments do not fit together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "wherry/wherry.hpp"

namespace wherry {

/// Owns a plan. Movable; one that was moved from, or made by default, holds none, and nothing must be called but its
/// destructor and assignment.
class [[nodiscard]] Plan {
 public:
  Plan() = default;
  /// Takes over what one of the C makers has made.
  explicit Plan(wherry_plan* plan) : plan_(plan) {}
  Plan(Plan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  Plan& operator=(Plan&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  /// Waits for an execution under way: its memory must not go before. Errors that this brings to light are dropped.
  ~Plan() {
    if (plan_ != nullptr) wherry_plan_wait(plan_);
    wherry_plan_free(&plan_);
  }

  /// Starts an execution; none may be under way. Local. Throws mpi_error.
  void start() { detail::check("wherry_plan_start", wherry_plan_start(plan_)); }
  /// Progresses it. Whether none is under way any more. Local. Throws mpi_error if it went wrong.
  bool test() {
    int over = 0;
    detail::check("wherry_plan_test", wherry_plan_test(plan_, &over));
    return over != 0;
  }
  /// Returns when no execution is under way. Throws mpi_error if it went wrong.
  void wait() { detail::check("wherry_plan_wait", wherry_plan_wait(plan_)); }

  /// A strategy's name, or "native".
  const char* strategy() const { return wherry_plan_strategy(plan_); }

 private:
  wherry_plan* plan_ = nullptr;
};

namespace detail {

/// Of a C maker: its arguments without the last.
template <class Maker, class... Arguments>
Plan plan(const char* name, Maker* maker, const Arguments&... arguments) {
  wherry_plan* made = nullptr;
  check(name, maker(arguments..., &made));
  return Plan(made);
}

}  // namespace detail

/// As alltoall(send, receive, comm). Collective over comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan alltoall_plan(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const int count = detail::block_count<T>(std::ranges::size(send), detail::ranks(comm), "send");
  detail::check_as_many("alltoall", std::ranges::size(receive), std::ranges::size(send));
  const MPI_Datatype type = detail::datatype<T>();
  return detail::plan("wherry_alltoall_plan", wherry_alltoall_plan, std::ranges::data(send), count, type,
                      std::ranges::data(receive), count, type, comm);
}

/// As alltoallv(send, send_counts, receive, receive_counts, comm): blocks one after the other. The counts are copied.
/// Collective over comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan alltoallv_plan(const Send& send, std::span<const int> send_counts, Receive&& receive,
                    std::span<const int> receive_counts, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::vector<int> send_begins = detail::one_after_the_other(send_counts);
  const std::vector<int> receive_begins = detail::one_after_the_other(receive_counts);
  const std::size_t ranks = detail::ranks(comm);
  detail::check_blocks(ranks, "send", std::ranges::size(send), send_counts, send_begins);
  detail::check_blocks(ranks, "receive", std::ranges::size(receive), receive_counts, receive_begins);
  const detail::Scaled<T> out_counts(send_counts), out_begins(send_begins);
  const detail::Scaled<T> in_counts(receive_counts), in_begins(receive_begins);
  const MPI_Datatype type = detail::datatype<T>();
  return detail::plan("wherry_alltoallv_plan", wherry_alltoallv_plan, std::ranges::data(send),
                      out_counts.data(), out_begins.data(), type, std::ranges::data(receive),
                      in_counts.data(), in_begins.data(), type, comm);
}

/// As allgather(send, receive, comm). Collective over comm.
template <Values Send, WritableValues Receive>
  requires Alike<Send, Receive>
Plan allgather_plan(const Send& send, Receive&& receive, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t ranks = detail::ranks(comm), all = std::ranges::size(receive);
  if (!detail::is_inter(comm)) detail::check_all_blocks("receive", all, std::ranges::size(send), ranks);
  const MPI_Datatype type = detail::datatype<T>();
  return detail::plan("wherry_allgather_plan", wherry_allgather_plan, std::ranges::data(send),
                      detail::mpi_count<T>(std::ranges::size(send)), type, std::ranges::data(receive),
                      detail::block_count<T>(all, ranks, "receive"), type, comm);
}

/// As bcast(data, root, comm). Collective over comm.
template <WritableValues Data>
Plan bcast_plan(Data&& data, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const detail::Part part = detail::part_of(comm, root);
  const std::size_t values = part.is_root || part.has_block ? std::ranges::size(data) : 0;
  return detail::plan("wherry_bcast_plan", wherry_bcast_plan, std::ranges::data(data),
                      detail::mpi_count<T>(values), detail::datatype<T>(), root, comm);
}

/// As allreduce(send, receive, op, comm), on values that MPI has a type for. Collective over comm.
template <Values Send, WritableValues Receive, Reduces<Send> Op>
  requires Alike<Send, Receive> && detail::Named<std::ranges::range_value_t<Send>>
Plan allreduce_plan(const Send& send, Receive&& receive, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  detail::check_as_many("allreduce", std::ranges::size(receive), std::ranges::size(send));
  return detail::plan("wherry_allreduce_plan", wherry_allreduce_plan, std::ranges::data(send),
                      std::ranges::data(receive), detail::mpi_count<T>(std::ranges::size(send)),
                      detail::datatype<T>(), MPI_Op(op), comm);
}

/// As reduce_scatter_block(send, receive, op, comm), on values that MPI has a type for. Collective over comm.
template <Values Send, WritableValues Receive, Reduces<Send> Op>
  requires Alike<Send, Receive> && detail::Named<std::ranges::range_value_t<Send>>
Plan reduce_scatter_block_plan(const Send& send, Receive&& receive, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t block = std::ranges::size(receive);
  detail::check_all_blocks("send", std::ranges::size(send), block, detail::own_ranks(comm));
  return detail::plan("wherry_reduce_scatter_block_plan", wherry_reduce_scatter_block_plan,
                      std::ranges::data(send), std::ranges::data(receive), detail::mpi_count<T>(block),
                      detail::datatype<T>(), MPI_Op(op), comm);
}

/// As barrier(comm). Collective over comm.
inline Plan barrier_plan(MPI_Comm comm) {
  return detail::plan("wherry_barrier_plan", wherry_barrier_plan, comm);
}

}  // namespace wherry
