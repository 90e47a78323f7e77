// Wherry for C++20, as wherry.hpp describes it: reductions, and the operations that they apply.
//
// An operation is one of wherry::op for the values that MPI defines it on, which the compiler checks, or any MPI_Op,
// which MPI checks. The function of a program's own MPI_Op gets values that MPI has no type for as elements of
// sizeof(T) bytes.
#pragma once

#include <mpi.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>

#include "wherry/ranges.hpp"
#include "wherry/wherry.h"

namespace wherry {

namespace detail {

// MPI's classes of types for its operations (MPI 4.1, 6.9.2); to MPI a char is text.
template <class T>
concept Integer = std::integral<T> && Named<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

template <class T>
inline constexpr bool is_complex = false;
template <std::floating_point T>
inline constexpr bool is_complex<std::complex<T>> = true;

struct OnNumbers {
  template <class T>
  static constexpr bool takes = Integer<T> || std::floating_point<T> || is_complex<T>;
};
struct OnOrdered {
  template <class T>
  static constexpr bool takes = Integer<T> || std::floating_point<T>;
};
struct OnTruth {
  template <class T>
  static constexpr bool takes = Integer<T> || std::same_as<T, bool>;
};
struct OnBits {
  template <class T>
  static constexpr bool takes = Integer<T> || std::same_as<T, std::byte>;
};

}  // namespace detail

/// MPI's operations: wherry::allreduce(send, receive, wherry::op::sum{}, comm). `takes<T>` says for which values.
namespace op {

struct sum : detail::OnNumbers {
  operator MPI_Op() const { return MPI_SUM; }
};
struct prod : detail::OnNumbers {
  operator MPI_Op() const { return MPI_PROD; }
};
struct max : detail::OnOrdered {
  operator MPI_Op() const { return MPI_MAX; }
};
struct min : detail::OnOrdered {
  operator MPI_Op() const { return MPI_MIN; }
};
struct land : detail::OnTruth {
  operator MPI_Op() const { return MPI_LAND; }
};
struct lor : detail::OnTruth {
  operator MPI_Op() const { return MPI_LOR; }
};
struct lxor : detail::OnTruth {
  operator MPI_Op() const { return MPI_LXOR; }
};
struct band : detail::OnBits {
  operator MPI_Op() const { return MPI_BAND; }
};
struct bor : detail::OnBits {
  operator MPI_Op() const { return MPI_BOR; }
};
struct bxor : detail::OnBits {
  operator MPI_Op() const { return MPI_BXOR; }
};

}  // namespace op

/// What may reduce values of R.
template <class Op, class R>
concept Reduces =
    std::same_as<Op, MPI_Op> || requires { requires Op::template takes<std::ranges::range_value_t<R>>; };

namespace detail {

/// MPI's type for one whole T: a reduction must not cut it.
template <class T>
class Element {
 public:
  Element() {
    if constexpr (!is_made) return;
    check("MPI_Type_contiguous", MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type_));
    check("MPI_Type_commit", MPI_Type_commit(&type_));
  }
  ~Element() {
    if constexpr (is_made) MPI_Type_free(&type_);
  }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  MPI_Datatype type() const { return type_; }

 private:
  static constexpr bool is_made = units<T> != 1;
  MPI_Datatype type_ = datatype<T>();
};

template <class T>
int element_count(std::size_t values) {
  return mpi_count<T>(values, 1);
}

}  // namespace detail

/// Reduces `send` of all ranks to `receive` at the root, value by value.
///
/// send: as many values on all ranks. receive: at the root as many; elsewhere ignored, and may be empty. They must not
///   overlap. root: the same on all ranks. op: an op that does not commute is applied in the order of ranks.
/// Collective over comm. Returns when `receive` is complete or, elsewhere, `send` may be written again.
/// Throws usage_error (local, before any message) if root is no rank or the sizes differ there; mpi_error.
/// Standard: MPI 4.1, section 6.9.1, MPI_Reduce.
template <Values Send, WritableValues Receive, Reduces<Send> Op>
  requires Alike<Send, Receive>
void reduce(const Send& send, Receive&& receive, Op op, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const auto [is_root, has_block] = detail::part_of(comm, root);
  if (is_root && has_block)
    detail::check_as_many("reduce", std::ranges::size(receive), std::ranges::size(send));
  const std::size_t values = has_block ? std::ranges::size(send) : is_root ? std::ranges::size(receive) : 0;
  const detail::Element<T> element;
  // What is ignored must be an address for MPICH 4.0, and not that of `receive`.
  const void* const from = has_block ? static_cast<const void*>(std::ranges::data(send)) : &element;
  detail::check("wherry_reduce",
                wherry_reduce(from, std::ranges::data(receive), detail::element_count<T>(values),
                              element.type(), op, root, comm));
}

/// In place: at the root the result replaces `data`; elsewhere `data` stays. All ranks must call this form.
template <WritableValues Data, Reduces<Data> Op>
void reduce(Data&& data, Op op, int root, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const int count = detail::element_count<T>(std::ranges::size(data));
  const bool is_root = detail::part_of(comm, root).is_root;
  const detail::Element<T> element;
  const void* const send = is_root ? MPI_IN_PLACE : std::ranges::data(data);
  void* const receive = is_root ? std::ranges::data(data) : nullptr;
  detail::check("wherry_reduce", wherry_reduce(send, receive, count, element.type(), op, root, comm));
}

/// Reduces `send` of all ranks to `receive` of all ranks, value by value.
///
/// send: as many values on all ranks. receive: as many; they must not overlap. op: as for reduce.
/// Collective over comm. Returns when `receive` is complete; all ranks have the same bits.
/// Throws usage_error (local, before any message) if the sizes differ; mpi_error.
/// Standard: MPI 4.1, section 6.9.6, MPI_Allreduce.
template <Values Send, WritableValues Receive, Reduces<Send> Op>
  requires Alike<Send, Receive>
void allreduce(const Send& send, Receive&& receive, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  detail::check_as_many("allreduce", std::ranges::size(receive), std::ranges::size(send));
  const int count = detail::element_count<T>(std::ranges::size(send));
  const detail::Element<T> element;
  detail::check("wherry_allreduce", wherry_allreduce(std::ranges::data(send), std::ranges::data(receive),
                                                     count, element.type(), op, comm));
}

/// In place: the result replaces `data`. All ranks must call this form.
template <WritableValues Data, Reduces<Data> Op>
void allreduce(Data&& data, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const int count = detail::element_count<T>(std::ranges::size(data));
  const detail::Element<T> element;
  detail::check("wherry_allreduce",
                wherry_allreduce(MPI_IN_PLACE, std::ranges::data(data), count, element.type(), op, comm));
}

/// Reduces blocks, one for each rank: `receive` of rank d is block d of the reduced `send`.
///
/// send: one block for each rank, one after the other. receive: one block, of as many values on all ranks; they must
///   not overlap. op: as for reduce.
/// Collective over comm. Returns when `receive` is complete.
/// Throws usage_error (local, before any message) if send has not the size of all blocks; mpi_error.
/// Standard: MPI 4.1, section 6.10.1, MPI_Reduce_scatter_block.
template <Values Send, WritableValues Receive, Reduces<Send> Op>
  requires Alike<Send, Receive>
void reduce_scatter_block(const Send& send, Receive&& receive, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Send>;
  const std::size_t block = std::ranges::size(receive);
  detail::check_all_blocks("send", std::ranges::size(send), block, detail::own_ranks(comm));
  const int count = detail::element_count<T>(block);
  const detail::Element<T> element;
  detail::check("wherry_reduce_scatter_block",
                wherry_reduce_scatter_block(std::ranges::data(send), std::ranges::data(receive), count,
                                            element.type(), op, comm));
}

/// In place: `data` holds a block for each rank; the result replaces its first block, the others are undefined. Returns
/// the result. All ranks must call this form.
template <WritableValues Data, Reduces<Data> Op>
auto reduce_scatter_block(Data&& data, Op op, MPI_Comm comm) {
  using T = std::ranges::range_value_t<Data>;
  const std::size_t block = detail::block_size(std::ranges::size(data), detail::own_ranks(comm), "data");
  const int count = detail::element_count<T>(block);
  const detail::Element<T> element;
  detail::check(
      "wherry_reduce_scatter_block",
      wherry_reduce_scatter_block(MPI_IN_PLACE, std::ranges::data(data), count, element.type(), op, comm));
  return std::span<T>(std::ranges::data(data), block);
}

}  // namespace wherry
