// Wherry for C++20: the collectives of wherry.h on ranges, with types deduced and errors as exceptions.
//
//   std::vector<double> send(ranks * n), receive(ranks * n);
//   wherry::alltoall(send, receive, MPI_COMM_WORLD);
//
// What wherry.h says holds here too: who owns what, order, threads, settings. In addition:
// - A range is contiguous memory with a size: std::vector, std::array, std::span. Its values are trivially copyable.
//   Arithmetic types and std::complex travel as MPI's types for them, any other as bytes.
// - usage_error: the arguments do not fit together. Local, thrown before any message: ranks with right arguments may wait.
// - mpi_error: MPI returned an error. It can be caught only where comm's error handler returns, as MPI_ERRORS_RETURN
//   does; MPI's default ends the program first.
// - "ranks" is the size of comm; of an intercommunicator, that of its remote group.
#pragma once

#include <mpi.h>

#include <climits>
#include <complex>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "wherry/wherry.h"

namespace wherry {

/// The caller asked for something that cannot be. The message says the problem, why, and what to do.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// MPI's code for a failed collective, with MPI's text for it.
class mpi_error : public std::runtime_error {
 public:
  mpi_error(const char* function, int code)
      : std::runtime_error(std::string(function) + ": " + text_of(code)), code_(code) {}

  int code() const noexcept { return code_; }
  /// MPI_ERR_COUNT, MPI_ERR_TRUNCATE, ...
  int error_class() const noexcept {
    int value = MPI_ERR_UNKNOWN;
    MPI_Error_class(code_, &value);
    return value;
  }

 private:
  static std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return std::string(text, static_cast<std::size_t>(length));
  }

  int code_;
};

namespace detail {

// MPI's own type for a C++ type; all other types travel as bytes.
inline MPI_Datatype named(const char*) { return MPI_CHAR; }
inline MPI_Datatype named(const signed char*) { return MPI_SIGNED_CHAR; }
inline MPI_Datatype named(const unsigned char*) { return MPI_UNSIGNED_CHAR; }
inline MPI_Datatype named(const short*) { return MPI_SHORT; }
inline MPI_Datatype named(const unsigned short*) { return MPI_UNSIGNED_SHORT; }
inline MPI_Datatype named(const int*) { return MPI_INT; }
inline MPI_Datatype named(const unsigned*) { return MPI_UNSIGNED; }
inline MPI_Datatype named(const long*) { return MPI_LONG; }
inline MPI_Datatype named(const unsigned long*) { return MPI_UNSIGNED_LONG; }
inline MPI_Datatype named(const long long*) { return MPI_LONG_LONG; }
inline MPI_Datatype named(const unsigned long long*) { return MPI_UNSIGNED_LONG_LONG; }
inline MPI_Datatype named(const float*) { return MPI_FLOAT; }
inline MPI_Datatype named(const double*) { return MPI_DOUBLE; }
inline MPI_Datatype named(const long double*) { return MPI_LONG_DOUBLE; }
inline MPI_Datatype named(const std::complex<float>*) { return MPI_C_FLOAT_COMPLEX; }
inline MPI_Datatype named(const std::complex<double>*) { return MPI_C_DOUBLE_COMPLEX; }
inline MPI_Datatype named(const std::complex<long double>*) { return MPI_C_LONG_DOUBLE_COMPLEX; }

template <class T>
concept Named = requires(const T* values) { named(values); };

/// MPI's elements for one T.
template <class T>
inline constexpr std::size_t units = Named<T> ? 1 : sizeof(T);

template <class T>
MPI_Datatype datatype() {
  if constexpr (Named<T>) return named(static_cast<const T*>(nullptr));
  else return MPI_BYTE;
}

inline void check(const char* function, int code) {
  if (code != MPI_SUCCESS) throw mpi_error(function, code);
}

/// How many ranks this one sends to.
inline std::size_t ranks(MPI_Comm comm) {
  int inter = 0, size = 0;
  check("MPI_Comm_test_inter", MPI_Comm_test_inter(comm, &inter));
  check("MPI_Comm_size", inter != 0 ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size));
  return static_cast<std::size_t>(size);
}

/// A number of T as MPI counts it.
template <class T>
int mpi_count(std::size_t values) {
  if (values > INT_MAX / units<T>)
    throw usage_error(std::to_string(values) + " values of " + std::to_string(sizeof(T)) +
                      " bytes are more than an int counts; send them in several calls");
  return static_cast<int>(values * units<T>);
}

/// Values per rank of a range that holds one block for each.
template <class T>
int block_count(std::size_t values, std::size_t ranks, const char* name) {
  if (values % ranks != 0)
    throw usage_error(std::string(name) + " holds " + std::to_string(values) +
                      " values, which is no multiple of " + std::to_string(ranks) +
                      " ranks; give every rank as many");
  return mpi_count<T>(values / ranks);
}

/// Blocks of one after the other: where each begins.
inline std::vector<int> one_after_the_other(std::span<const int> counts) {
  std::vector<int> begins;
  begins.reserve(counts.size());
  long long at = 0;
  for (const int count : counts) {
    if (at > INT_MAX) throw usage_error("a block begins beyond what an int counts; send in several calls");
    begins.push_back(static_cast<int>(at));
    at += count;
  }
  return begins;
}

/// Counts or displacements of T as MPI counts them: the caller's own, or multiplied.
template <class T>
class Scaled {
 public:
  explicit Scaled(std::span<const int> numbers) : numbers_(numbers) {
    if constexpr (units<T> != 1)
      for (const int n : numbers) scaled_.push_back(mpi_count<T>(static_cast<std::size_t>(n)));
  }
  const int* data() const { return units<T> == 1 ? numbers_.data() : scaled_.data(); }

 private:
  std::span<const int> numbers_;
  std::vector<int> scaled_;
};

inline void check_lengths(std::size_t ranks, const char* name, std::initializer_list<std::size_t> lengths) {
  for (const std::size_t length : lengths)
    if (length != ranks)
      throw usage_error("an array of the " + std::string(name) + " side has " + std::to_string(length) +
                        " entries, but there are " + std::to_string(ranks) + " ranks; give one for each");
}

/// Every block lies inside its range.
inline void check_blocks(std::size_t ranks, const char* name, std::size_t values, std::span<const int> counts,
                         std::span<const int> displacements) {
  check_lengths(ranks, name, {counts.size(), displacements.size()});
  for (std::size_t r = 0; r < ranks; ++r) {
    const long long begin = displacements[r], count = counts[r];
    if (begin < 0 || count < 0 || (count > 0 && begin + count > static_cast<long long>(values)))
      throw usage_error("the " + std::string(name) + " block of rank " + std::to_string(r) + " has " +
                        std::to_string(count) + " values from " + std::to_string(begin) +
                        " on, but there are " + std::to_string(values) +
                        "; enlarge the range or correct the counts");
  }
}

}  // namespace detail

/// Contiguous memory of values that may be copied as bytes.
template <class R>
concept Values = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                 std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/// The same, to be written to.
template <class R>
concept WritableValues =
    Values<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Ranges of the same values.
template <class A, class B>
concept Alike = std::same_as<std::ranges::range_value_t<A>, std::ranges::range_value_t<B>>;

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
  if (std::ranges::size(receive) != std::ranges::size(send))
    throw usage_error("receive holds " + std::to_string(std::ranges::size(receive)) + " values and send " +
                      std::to_string(std::ranges::size(send)) +
                      ", but alltoall receives as many as it sends; resize receive");
  const MPI_Datatype type = detail::datatype<T>();
  detail::check("wherry_alltoall", wherry_alltoall(std::ranges::data(send), count, type,
                                                   std::ranges::data(receive), count, type, comm));
}

/// In place: block d of `data` goes to rank d, and what rank d sends here takes its place. All ranks must call this form.
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
/// Counts and displacements have one entry per rank, in values (not bytes). What is received from rank o has the size that o
///   sends. Blocks of `receive` must not overlap each other or `send`.
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
/// one entry per rank. The types are committed MPI types, which know their own layout: nothing checks the buffer's size.
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
