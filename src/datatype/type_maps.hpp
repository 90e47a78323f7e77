// The type maps of the program's datatypes, worked out once for each.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>

#include "datatype/type_map.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

/// Thread-safe. Shapes of derived types are attributes of the types, and so go with them; predefined types stay.
class Types {
 public:
  explicit Types(const mpi::Api& api) : api_(api) {}

  /// Stays valid when the type is freed, as it may be while transfers are under way.
  std::shared_ptr<const Shape> shape(MPI_Datatype type);

 private:
  std::shared_ptr<const Shape> attached(MPI_Datatype type);

  const mpi::Api& api_;
  std::mutex mutex_;
  int keyval_ = MPI_KEYVAL_INVALID;
  std::map<MPI_Datatype, std::shared_ptr<const Shape>> predefined_;
};

}  // namespace wherry::window
