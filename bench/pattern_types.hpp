// Datatypes for the patterns of applications, made as programs make them: what a type is made of is freed at once.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

namespace bench {

/// A datatype, freed with it if it is derived.
class Type {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a predefined type is one as it stands
  Type(MPI_Datatype predefined) : type_(predefined) {}
  template <class Make>
  static Type made(const Make& make) {
    Type type(MPI_DATATYPE_NULL);
    make(&type.type_);
    type.is_derived_ = true;
    return type;
  }
  Type(Type&& other) noexcept : type_(other.type_), is_derived_(std::exchange(other.is_derived_, false)) {}
  Type& operator=(Type&&) = delete;
  ~Type() {
    if (is_derived_) MPI_Type_free(&type_);
  }

  MPI_Datatype get() const { return type_; }
  void commit() { MPI_Type_commit(&type_); }

 private:
  MPI_Datatype type_;
  bool is_derived_ = false;
};

inline Type vector(int count, int length, int stride, const Type& of) {
  return Type::made([&](MPI_Datatype* made) { MPI_Type_vector(count, length, stride, of.get(), made); });
}

inline Type hvector(int count, MPI_Aint stride, const Type& of) {
  return Type::made([&](MPI_Datatype* made) { MPI_Type_create_hvector(count, 1, stride, of.get(), made); });
}

inline Type subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes,
                     const std::vector<int>& starts, const Type& of) {
  return Type::made([&](MPI_Datatype* made) {
    MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), subsizes.data(), starts.data(),
                             MPI_ORDER_C, of.get(), made);
  });
}

inline Type contiguous(int count, const Type& of) {
  return Type::made([&](MPI_Datatype* made) { MPI_Type_contiguous(count, of.get(), made); });
}

inline Type by_ids(const std::vector<int>& ids, const Type& of) {
  return Type::made([&](MPI_Datatype* made) {
    MPI_Type_create_indexed_block(static_cast<int>(ids.size()), 1, ids.data(), of.get(), made);
  });
}

inline Type structure(const std::vector<MPI_Aint>& at, const std::vector<const Type*>& members) {
  const std::vector<int> lengths(at.size(), 1);
  std::vector<MPI_Datatype> types;
  for (const Type* member : members) types.push_back(member->get());
  return Type::made([&](MPI_Datatype* made) {
    MPI_Type_create_struct(static_cast<int>(at.size()), lengths.data(), at.data(), types.data(), made);
  });
}

inline Type resized(const Type& of, MPI_Aint extent) {
  return Type::made([&](MPI_Datatype* made) { MPI_Type_create_resized(of.get(), 0, extent, made); });
}

}  // namespace bench
