// How a datatype was made, and from what.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/api.hpp"

namespace wherry::datatype {

/// What MPI_Type_get_envelope tells (MPI 4.1, 5.1.13).
struct TypeEnvelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
  bool readable = false;  // the library told
};

/// Also of types made by large-count constructors, of which the function without _c makes an error.
TypeEnvelope envelope_of(const mpi::Api& api, MPI_Datatype type);

/// Whether the type lives as long as the library: named types and Fortran's parametrized ones.
bool is_predefined(int combiner);

/// The one type that a contiguous type or a duplicate is made of; MPI_DATATYPE_NULL if the library does not tell.
/// The caller frees it unless it is predefined.
MPI_Datatype inner_of(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& envelope);

inline constexpr const char* odd_contents =
    "a datatype's contents are not those of its constructor; it stays native";

/// MPI_Type_get_contents, the same for constructors with and without large counts. Frees the handles that it was given.
class Contents {
 public:
  Contents(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& envelope);
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents();

  bool readable() const { return readable_; }

  /// The arguments of the constructor in its order, without types: those of int first, then MPI_Aint, then MPI_Count.
  /// But for subarrays and darrays that is the order of the argument list.
  const std::vector<MPI_Count>& numbers() const { return numbers_; }
  /// How many of the numbers were of type int.
  std::size_t integers() const { return integers_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  bool read(MPI_Datatype type, const TypeEnvelope& envelope);
  bool read_small(MPI_Datatype type, const TypeEnvelope& envelope);

  const mpi::Api& api_;
  std::vector<MPI_Count> numbers_;
  std::size_t integers_ = 0;
  std::vector<MPI_Datatype> types_;
  bool readable_;  // last, as reading fills the others
};

}  // namespace wherry::datatype
