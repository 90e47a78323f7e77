// The type maps of the program's datatypes, worked out once for each.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>

#include "datatype/type_attribute.hpp"
#include "datatype/type_map.hpp"
#include "mpi/api.hpp"

namespace wherry::window {

/// Thread-safe. Shapes of derived types are attributes of the types, and so go with them; predefined types stay.
class Types {
 public:
  explicit Types(const mpi::Api& api) : api_(api), kept_(api) {}

  /// Stays valid when the type is freed, as it may be while transfers are under way.
  std::shared_ptr<const Shape> shape(MPI_Datatype type);

 private:
  const mpi::Api& api_;
  std::mutex mutex_;
  datatype::TypeAttribute<const Shape> kept_;
  std::map<MPI_Datatype, std::shared_ptr<const Shape>> predefined_;
};

}  // namespace wherry::window
