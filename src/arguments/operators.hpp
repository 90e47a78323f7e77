// What must be known of the operation of a reduction before Wherry may apply it.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

enum class Operator {
  unknown,      // or not for this type: the library should validate it
  exact,        // predefined; the result is the same in any order
  rounding,     // predefined; the result depends on the order in its last bits
  order_shows,  // predefined; of two operands it shows which came first, as the maximum of a number and a NaN
  user,         // the program's own, and commutes
  user_ordered,  // the program's own, and does not commute
};

inline bool is_predefined(Operator o) {
  return o == Operator::exact || o == Operator::rounding || o == Operator::order_shows;
}

/// Whether a op b and b op a have the same bits.
inline bool commutes_bitwise(Operator o) { return o == Operator::exact || o == Operator::rounding; }

/// What `op` is on elements of `type`. predefined_type: not made by a constructor.
Operator classify(const mpi::Api& api, MPI_Op op, MPI_Datatype type, bool predefined_type);

/// Remembers the last answer about a predefined type and operation: most calls use one and the same. Other handles may
/// be freed and come again as something else.
class OperatorMemory {
 public:
  Operator classify(const mpi::Api& api, MPI_Op op, MPI_Datatype type, bool predefined_type) {
    if (known_ && op == op_ && type == type_) return operator_;
    const Operator found = run::classify(api, op, type, predefined_type);
    if (is_predefined(found)) op_ = op, type_ = type, operator_ = found, known_ = true;
    return found;
  }

 private:
  bool known_ = false;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Operator operator_ = Operator::unknown;
};

/// Whether the program may see in what order the ranks' data was combined.
inline bool depends_on_order(Operator o) { return o != Operator::exact; }

}  // namespace wherry::run
