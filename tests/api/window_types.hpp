// Six ints as datatypes with gaps of all kinds, and as plain ints.
#pragma once

#include <mpi.h>

#include <vector>

namespace test {

struct Type {
  MPI_Datatype type;
  int per_element;  // how many of it have six ints
  long extent;      // of six ints, bytes
  bool is_plain;    // nothing but ints
};

inline std::vector<Type> make_types() {
  std::vector<Type> types = {{MPI_INT, 6, 24, true}};
  const auto add = [&types](MPI_Datatype type, long extent) {
    MPI_Type_commit(&type);
    types.push_back({type, 1, extent, false});
  };
  MPI_Datatype type = MPI_DATATYPE_NULL, inner = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(6, MPI_INT, &type);
  add(type, 24);
  types.back().is_plain = true;

  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  add(type, 40);

  int backwards[] = {5, 4, 3, 2, 1, 0};
  MPI_Type_create_indexed_block(6, 1, backwards, MPI_INT, &type);
  add(type, 24);

  MPI_Type_contiguous(6, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 36, &type);
  MPI_Type_free(&inner);
  add(type, 36);

  int lengths[] = {1, 3, 2};
  MPI_Aint places[] = {8, 16, 40};
  MPI_Datatype parts[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Type_create_struct(3, lengths, places, parts, &inner);
  MPI_Type_create_resized(inner, 0, 52, &type);
  MPI_Type_free(&inner);
  add(type, 52);

  int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
  add(type, 80);
  return types;
}

inline void free_types(std::vector<Type>& types) {
  for (Type& t : types)
    if (t.type != MPI_INT) MPI_Type_free(&t.type);
}

}  // namespace test
