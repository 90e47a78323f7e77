// Wherry for C++20: MPI datatypes of C++ types, made by the compiler from what they consist of.
//
//   struct Particle { double position[3]; int id; bool fixed; };
//
//   MPI_Send(particles.data(), n, wherry::datatype<Particle>(), 1, 0, comm);
//   MPI_Send(particles.data(), n, wherry::datatype<wherry::Subset<Particle, &Particle::position>>(), 1, 0, comm);
//
// What a type may consist of: numbers, bool, enumerations, complex numbers, std::array and C arrays, pairs, tuples, and
// aggregates or classes with members() of these (types/members.hpp). Anything else does not compile, and the message
// says what to do. pack.hpp has types whose size differs from value to value.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <type_traits>

#include "wherry/ranges.hpp"
#include "wherry/types/leaves.hpp"

namespace wherry {
namespace detail {

inline MPI_Datatype named(Kind kind) {
  switch (kind) {
    case Kind::boolean: return MPI_C_BOOL;
    case Kind::character: return MPI_CHAR;
    case Kind::signed_char: return MPI_SIGNED_CHAR;
    case Kind::unsigned_char: return MPI_UNSIGNED_CHAR;
    case Kind::short_integer: return MPI_SHORT;
    case Kind::unsigned_short: return MPI_UNSIGNED_SHORT;
    case Kind::integer: return MPI_INT;
    case Kind::unsigned_integer: return MPI_UNSIGNED;
    case Kind::long_integer: return MPI_LONG;
    case Kind::unsigned_long: return MPI_UNSIGNED_LONG;
    case Kind::long_long: return MPI_LONG_LONG;
    case Kind::unsigned_long_long: return MPI_UNSIGNED_LONG_LONG;
    case Kind::single_precision: return MPI_FLOAT;
    case Kind::double_precision: return MPI_DOUBLE;
    case Kind::extended_precision: return MPI_LONG_DOUBLE;
    case Kind::bytes: break;
  }
  return MPI_BYTE;
}

/// Leaves of one kind that lie next to each other are one entry of MPI_Type_create_struct.
template <class T>
struct TypeEntries {
  static constexpr std::size_t most = leaves<T>.size();
  std::array<int, most> lengths{};
  std::array<MPI_Aint, most> displacements{};
  std::array<MPI_Datatype, most> types{};
  int count = 0;

  TypeEntries() {
    const Leaf* last = nullptr;
    for (const Leaf& leaf : leaves<T>) {
      if (last != nullptr && continues(*last, leaf)) at(count - 1) += elements(leaf);
      else add(leaf);
      last = &leaf;
    }
  }

 private:
  // MPI has no names for some character types: they travel as bytes.
  static int elements(const Leaf& leaf) {
    return mpi_count<std::byte>(leaf.kind == Kind::bytes ? leaf.count * leaf.bytes : leaf.count);
  }
  static bool continues(const Leaf& last, const Leaf& next) {
    return last.kind == next.kind && last.bytes == next.bytes && last.kind != Kind::extended_precision &&
           last.offset + last.count * last.bytes == next.offset;
  }
  int& at(int entry) { return lengths[static_cast<std::size_t>(entry)]; }
  void add(const Leaf& leaf) {
    const auto entry = static_cast<std::size_t>(count++);
    lengths[entry] = elements(leaf);
    displacements[entry] = static_cast<MPI_Aint>(leaf.offset);
    types[entry] = named(leaf.kind);
  }
};

inline int free_datatype(MPI_Comm, int, void* value, void*) {
  auto* const type = static_cast<MPI_Datatype*>(value);
  const int code = MPI_Type_free(type);
  delete type;
  return code;
}

/// Has the type freed by MPI_Finalize, which begins by deleting the attributes of MPI_COMM_SELF.
inline void free_at_finalize(MPI_Datatype type) {
  int key = MPI_KEYVAL_INVALID;
  check("MPI_Comm_create_keyval",
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_datatype, &key, nullptr));
  check("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, key, new MPI_Datatype(type)));
  check("MPI_Comm_free_keyval", MPI_Comm_free_keyval(&key));
}

template <class T>
MPI_Datatype make_datatype() {
  const TypeEntries<T> entries;
  MPI_Datatype packed = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  check("MPI_Type_create_struct",
        MPI_Type_create_struct(entries.count, entries.lengths.data(), entries.displacements.data(),
                               entries.types.data(), &packed));
  const int code = MPI_Type_create_resized(packed, 0, sizeof(typename Whole<T>::Object), &type);
  MPI_Type_free(&packed);
  check("MPI_Type_create_resized", code);
  check("MPI_Type_commit", MPI_Type_commit(&type));
  free_at_finalize(type);
  return type;
}

}  // namespace detail

/// The committed MPI datatype of a T, or of a subset of T's members; its extent is sizeof(T), so that it counts arrays
/// of T. It is made at the first call, between MPI_Init and MPI_Finalize, is freed by MPI_Finalize, and must not be
/// freed by the program. Local; any thread. Throws mpi_error.
template <detail::Fixed T>
MPI_Datatype datatype() {
  if constexpr (detail::Named<T>) return detail::named(static_cast<const T*>(nullptr));
  else {
    static const MPI_Datatype type = detail::make_datatype<T>();
    return type;
  }
}

}  // namespace wherry
