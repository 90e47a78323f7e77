// Wherry for C++20, as wherry.hpp describes it: the ranges that collectives take, MPI's types for their values, and
// what is checked of them before anything is sent.
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
inline MPI_Datatype named(const bool*) { return MPI_C_BOOL; }
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

inline bool is_inter(MPI_Comm comm) {
  int inter = 0;
  check("MPI_Comm_test_inter", MPI_Comm_test_inter(comm, &inter));
  return inter != 0;
}

/// How many ranks there are in this one's group.
inline std::size_t own_ranks(MPI_Comm comm) {
  int size = 0;
  check("MPI_Comm_size", MPI_Comm_size(comm, &size));
  return static_cast<std::size_t>(size);
}

/// How many ranks this one sends to.
inline std::size_t ranks(MPI_Comm comm) {
  if (!is_inter(comm)) return own_ranks(comm);
  int size = 0;
  check("MPI_Comm_remote_size", MPI_Comm_remote_size(comm, &size));
  return static_cast<std::size_t>(size);
}

/// A number of T as MPI counts it.
template <class T>
int mpi_count(std::size_t values, std::size_t per_value = units<T>) {
  if (values > INT_MAX / per_value)
    throw usage_error(std::to_string(values) + " values of " + std::to_string(sizeof(T)) +
                      " bytes are more than an int counts; send them in several calls");
  return static_cast<int>(values * per_value);
}

// Of all that follow, peer: what those are called who have a block each.

/// Values per peer of a range that holds one block for each; of no peers, none.
inline std::size_t block_size(std::size_t values, std::size_t peers, const char* name,
                              const char* peer = "rank") {
  if (peers == 0 ? values != 0 : values % peers != 0)
    throw usage_error(std::string(name) + " holds " + std::to_string(values) +
                      " values, which is no multiple of " + std::to_string(peers) + " " + peer +
                      "s; give every " + peer + " as many");
  return peers == 0 ? 0 : values / peers;
}

/// The same as MPI counts them.
template <class T>
int block_count(std::size_t values, std::size_t peers, const char* name, const char* peer = "rank") {
  return mpi_count<T>(block_size(values, peers, name, peer));
}

/// `receive` holds a value for each of `send`.
inline void check_as_many(const char* function, std::size_t receive, std::size_t send) {
  if (receive != send)
    throw usage_error("receive holds " + std::to_string(receive) + " values and send " +
                      std::to_string(send) + ", but " + function +
                      " receives as many as it sends; resize receive");
}

/// `all` holds a block of `block` values for each peer.
inline void check_all_blocks(const char* name, std::size_t all, std::size_t block, std::size_t peers,
                             const char* peer = "rank") {
  if (all != block * peers)
    throw usage_error(std::string(name) + " holds " + std::to_string(all) + " values, but blocks of " +
                      std::to_string(block) + " on " + std::to_string(peers) + " " + peer + "s are " +
                      std::to_string(block * peers) + "; resize " + name);
}

/// What this rank does in a collective with a root. In an intercommunicator the root has no block of its own, and the
/// others of its group have no part (MPI 4.1, 6.2.3).
struct Part {
  bool is_root;
  bool has_block;  // one of those that are collected, spread or reduced
};

inline Part part_of(MPI_Comm comm, int root) {
  if (is_inter(comm)) return {root == MPI_ROOT, root != MPI_ROOT && root != MPI_PROC_NULL};
  const std::size_t size = own_ranks(comm);
  if (root < 0 || static_cast<std::size_t>(root) >= size)
    throw usage_error("root is " + std::to_string(root) + ", but there are " + std::to_string(size) +
                      " ranks; give one from 0 to " + std::to_string(size - 1));
  int rank = 0;
  check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
  return {root == rank, true};
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

/// Arrays of these lengths have one entry per peer.
inline void check_lengths(std::size_t peers, const char* name, std::initializer_list<std::size_t> lengths,
                          const char* peer = "rank") {
  for (const std::size_t length : lengths)
    if (length != peers)
      throw usage_error("an array of the " + std::string(name) + " side has " + std::to_string(length) +
                        " entries, but there are " + std::to_string(peers) + " " + peer +
                        "s; give one for each");
}

/// Every block lies inside its range.
inline void check_blocks(std::size_t peers, const char* name, std::size_t values, std::span<const int> counts,
                         std::span<const int> displacements, const char* peer = "rank") {
  check_lengths(peers, name, {counts.size(), displacements.size()}, peer);
  for (std::size_t p = 0; p < peers; ++p) {
    const long long begin = displacements[p], count = counts[p];
    if (begin < 0 || count < 0 || (count > 0 && begin + count > static_cast<long long>(values)))
      throw usage_error("the " + std::string(name) + " block of " + peer + " " + std::to_string(p) + " has " +
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

}  // namespace wherry
