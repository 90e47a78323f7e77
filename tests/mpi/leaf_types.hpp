// Predefined and parametrized datatypes, each with its type map: what random types are made of.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mapped_type.hpp"

namespace wherry::test {

/// For constructors that libraries refuse.
class ErrorsReturned {
 public:
  ErrorsReturned() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  ~ErrorsReturned() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

inline MappedType leaf(MPI_Datatype type, const char* name, Long size) {
  MappedType leaf{type, {}, name, true};
  for (Long i = 0; i < size; ++i) leaf.map.bytes.push_back(i);
  leaf.map.upper = size;
  leaf.map.bounded = true;
  return leaf;
}

/// A value and an int, as in a struct of C.
template <class Value>
MappedType pair_leaf(MPI_Datatype type, const char* name) {
  struct Pair {
    Value value;
    int index;
  };
  MappedType pair = leaf(type, name, sizeof(Value));
  for (Long i = 0; i < static_cast<Long>(sizeof(int)); ++i)
    pair.map.bytes.push_back(static_cast<Long>(offsetof(Pair, index)) + i);
  pair.map.upper = sizeof(Pair);
  return pair;
}

/// All are predefined or count as such: nobody frees them.
inline std::vector<MappedType> leaf_types() {
  std::vector<MappedType> leaves{leaf(MPI_CHAR, "MPI_CHAR", 1),
                                 leaf(MPI_SHORT, "MPI_SHORT", 2),
                                 leaf(MPI_INT, "MPI_INT", 4),
                                 leaf(MPI_DOUBLE, "MPI_DOUBLE", 8),
                                 leaf(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", 16),
                                 leaf(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", 16),
                                 pair_leaf<short>(MPI_SHORT_INT, "MPI_SHORT_INT"),
                                 pair_leaf<double>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT"),
                                 pair_leaf<long double>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT")};
  const ErrorsReturned returned;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, 307, &type) == MPI_SUCCESS)
    leaves.push_back(leaf(type, "f90_real(15, 307)", 8));
  if (MPI_Type_create_f90_complex(6, 37, &type) == MPI_SUCCESS)
    leaves.push_back(leaf(type, "f90_complex(6, 37)", 8));
  if (MPI_Type_create_f90_integer(9, &type) == MPI_SUCCESS) leaves.push_back(leaf(type, "f90_integer(9)", 4));
  return leaves;
}

}  // namespace wherry::test
