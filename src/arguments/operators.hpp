// What must be known of the operation of a reduction before Wherry may apply it.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

enum class Operator {
  unknown,       // or not for this type: the library should validate it
  exact,         // predefined; the result is the same in any order
  rounding,      // predefined; the result depends on the order in its last bits
  user,          // the program's own, and commutes
  user_ordered,  // the program's own, and does not commute
};

/// What `op` is on elements of `type`. predefined_type: not made by a constructor.
Operator classify(const mpi::Api& api, MPI_Op op, MPI_Datatype type, bool predefined_type);

/// Remembers the last answer about a predefined type and operation: most calls use one and the same. Other handles may
/// be freed and come again as something else.
class OperatorMemory {
 public:
  Operator classify(const mpi::Api& api, MPI_Op op, MPI_Datatype type, bool predefined_type) {
    if (known_ && op == op_ && type == type_) return operator_;
    const Operator found = run::classify(api, op, type, predefined_type);
    if (found == Operator::exact || found == Operator::rounding)
      op_ = op, type_ = type, operator_ = found, known_ = true;
    return found;
  }

 private:
  bool known_ = false;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Operator operator_ = Operator::unknown;
};

inline bool is_predefined(Operator o) { return o == Operator::exact || o == Operator::rounding; }

/// Whether the program may see in what order the ranks' data was combined.
inline bool depends_on_order(Operator o) { return o != Operator::exact; }

}  // namespace wherry::run
