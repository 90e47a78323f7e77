// Datatypes and operations for calls of collectives on segments.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace wherry::test {

struct Type {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  long long extent = 0;
  bool reals = false;
};

/// f(x) = a x + b on pairs (a, b): composing such functions is associative and does not commute.
inline void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint64_t*>(in);
  auto* second = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < 2 * *count; i += 2) {
    second[i + 1] += first[i + 1] * second[i];
    second[i] *= first[i];
  }
}

/// Commutes: for strategies that reduce in another order.
inline void add(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint64_t*>(in);
  auto* second = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < 2 * *count; ++i) second[i] += first[i];
}

/// Finite numbers instead of random bits, among which are those that compare to nothing.
inline void make_reals(std::vector<std::byte>& memory) {
  for (std::size_t at = 0; at + sizeof(double) <= memory.size(); at += sizeof(double)) {
    const double number = static_cast<double>(memory[at]) - 1e3 * static_cast<double>(memory[at + 1]);
    std::memcpy(&memory[at], &number, sizeof number);
  }
}

/// Made once; must go before MPI does.
class Types {
 public:
  Types() {
    constexpr MPI_Aint behind = 8;
    MPI_Datatype shift = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(1, 1, &behind, MPI_INT64_T, &shift);
    MPI_Type_create_resized(shift, 0, static_cast<MPI_Aint>(shifted.extent), &shifted.type);
    MPI_Type_free(&shift);
    MPI_Type_create_resized(MPI_INT64_T, 0, static_cast<MPI_Aint>(gapped.extent), &gapped.type);
    MPI_Type_contiguous(2, MPI_INT64_T, &pair.type);
    for (MPI_Datatype* made : {&pair.type, &gapped.type, &shifted.type}) MPI_Type_commit(made);
    MPI_Op_create(compose, 0, &composing);
    MPI_Op_create(add, 1, &adding);
  }
  ~Types() {
    for (MPI_Datatype* made : {&pair.type, &gapped.type, &shifted.type}) MPI_Type_free(made);
    MPI_Op_free(&adding);
    MPI_Op_free(&composing);
  }
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  // Of one signature, so that a call may mix them: a 64-bit integer.
  const Type dense{MPI_INT64_T, 8};
  Type gapped{MPI_DATATYPE_NULL, 24};
  Type shifted{MPI_DATATYPE_NULL, 16};
  // To be reduced.
  const Type real{MPI_DOUBLE, 8, true};
  Type pair{MPI_DATATYPE_NULL, 16};
  MPI_Op composing = MPI_OP_NULL;
  MPI_Op adding = MPI_OP_NULL;
};

}  // namespace wherry::test
