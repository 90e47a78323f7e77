#include "arguments/operators.hpp"

#include <algorithm>
#include <string_view>

namespace wherry::run {

namespace {

/// Classes of types by the operations that take them (MPI 4.1, 6.9.2), as bits.
enum Kind : unsigned {
  integer = 1,
  real = 2,
  complex = 4,
  logical = 8,
  byte = 16,
  pair = 32,
  integer_pair = 64
};

struct NamedType {
  std::string_view name;
  unsigned kinds;
};

/// Those without gaps. By name: a library may lack the handles of Fortran's types.
constexpr NamedType types[] = {
    {"MPI_INT", integer | logical},
    {"MPI_LONG", integer | logical},
    {"MPI_SHORT", integer | logical},
    {"MPI_UNSIGNED_SHORT", integer | logical},
    {"MPI_UNSIGNED", integer | logical},
    {"MPI_UNSIGNED_LONG", integer | logical},
    {"MPI_LONG_LONG", integer | logical},
    {"MPI_LONG_LONG_INT", integer | logical},
    {"MPI_UNSIGNED_LONG_LONG", integer | logical},
    {"MPI_SIGNED_CHAR", integer | logical},
    {"MPI_UNSIGNED_CHAR", integer | logical},
    {"MPI_INT8_T", integer | logical},
    {"MPI_INT16_T", integer | logical},
    {"MPI_INT32_T", integer | logical},
    {"MPI_INT64_T", integer | logical},
    {"MPI_UINT8_T", integer | logical},
    {"MPI_UINT16_T", integer | logical},
    {"MPI_UINT32_T", integer | logical},
    {"MPI_UINT64_T", integer | logical},
    {"MPI_AINT", integer},
    {"MPI_COUNT", integer},
    {"MPI_OFFSET", integer},
    {"MPI_INTEGER", integer},
    {"MPI_INTEGER1", integer},
    {"MPI_INTEGER2", integer},
    {"MPI_INTEGER4", integer},
    {"MPI_INTEGER8", integer},
    {"MPI_FLOAT", real},
    {"MPI_DOUBLE", real},
    {"MPI_REAL", real},
    {"MPI_DOUBLE_PRECISION", real},
    {"MPI_REAL4", real},
    {"MPI_REAL8", real},
    {"MPI_C_BOOL", logical},
    {"MPI_CXX_BOOL", logical},
    {"MPI_LOGICAL", logical},
    {"MPI_C_COMPLEX", complex},
    {"MPI_C_FLOAT_COMPLEX", complex},
    {"MPI_C_DOUBLE_COMPLEX", complex},
    {"MPI_CXX_FLOAT_COMPLEX", complex},
    {"MPI_CXX_DOUBLE_COMPLEX", complex},
    {"MPI_COMPLEX", complex},
    {"MPI_DOUBLE_COMPLEX", complex},
    {"MPI_BYTE", byte},
    {"MPI_2INT", integer_pair},
    {"MPI_FLOAT_INT", pair},
    {"MPI_2INTEGER", integer_pair},
    {"MPI_2REAL", pair},
    {"MPI_2DOUBLE_PRECISION", pair},
};

struct PredefinedOp {
  MPI_Op op;
  unsigned takes;
  unsigned rounds;  // on these
  /// On these a op b and b op a may differ: a maximum takes one of a number and a NaN, and one of 0 and -0, by its
  /// place; of products of complex numbers a compiler may leave one of two roundings out.
  unsigned order_shows;
};

constexpr std::size_t predefined_ops = 12;

const PredefinedOp* find_op(MPI_Op op) {
  // Not constants: in Open MPI, handles are addresses.
  static const PredefinedOp ops[predefined_ops] = {
      {MPI_SUM, integer | real | complex, real | complex, 0},
      {MPI_PROD, integer | real | complex, real, complex},
      {MPI_MAX, integer | real, 0, real},
      {MPI_MIN, integer | real, 0, real},
      {MPI_LAND, integer | logical, 0, 0},
      {MPI_LOR, integer | logical, 0, 0},
      {MPI_LXOR, integer | logical, 0, 0},
      {MPI_BAND, integer | byte, 0, 0},
      {MPI_BOR, integer | byte, 0, 0},
      {MPI_BXOR, integer | byte, 0, 0},
      {MPI_MAXLOC, pair | integer_pair, 0, pair},
      {MPI_MINLOC, pair | integer_pair, 0, pair},
  };
  const auto* const found = std::ranges::find(ops, op, &PredefinedOp::op);
  return found == std::end(ops) ? nullptr : found;
}

unsigned kinds_of(const mpi::Api& api, MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  if (api.Type_get_name(type, name, &length) != MPI_SUCCESS) return 0;
  const auto* const found = std::ranges::find(types, std::string_view(name), &NamedType::name);
  return found == std::end(types) ? 0 : found->kinds;
}

Operator classify_own(const mpi::Api& api, MPI_Op op) {
  int commutes = 0;
  if (api.Op_commutative(op, &commutes) != MPI_SUCCESS) return Operator::unknown;
  return commutes != 0 ? Operator::user : Operator::user_ordered;
}

}  // namespace

Operator classify(const mpi::Api& api, MPI_Op op, MPI_Datatype type, bool predefined_type) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) return Operator::unknown;
  const PredefinedOp* const row = find_op(op);
  if (row == nullptr) return classify_own(api, op);
  const unsigned kinds = predefined_type ? kinds_of(api, type) : 0;
  if ((kinds & row->takes) == 0) return Operator::unknown;
  if ((kinds & row->order_shows) != 0) return Operator::order_shows;
  return (kinds & row->rounds) != 0 ? Operator::rounding : Operator::exact;
}

}  // namespace wherry::run
