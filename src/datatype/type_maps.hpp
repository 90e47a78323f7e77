// The type maps of the program's datatypes, worked out once for each.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>

#include "datatype/type_attribute.hpp"
#include "datatype/type_map.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

/// Thread-safe. The maps of derived types are attributes of the types, and so go with them; predefined types stay.
class Types {
 public:
  explicit Types(const mpi::Api& api) : api_(api), kept_(api) {}

  /// Stays valid when the type is freed, as it may be while transfers are under way.
  std::shared_ptr<const TypeMap> map(MPI_Datatype type);

 private:
  const mpi::Api& api_;
  std::mutex mutex_;
  TypeAttribute<const TypeMap> kept_;
  std::map<MPI_Datatype, std::shared_ptr<const TypeMap>> predefined_;
};

inline std::shared_ptr<const TypeMap> Types::map(MPI_Datatype type) {
  const std::lock_guard lock(mutex_);
  if (const auto known = predefined_.find(type); known != predefined_.end()) return known->second;
  if (std::shared_ptr<const TypeMap> known = kept_.find(type)) return known;
  auto made = std::make_shared<const TypeMap>(type_map_of(api_, type));
  if (made->predefined) return predefined_.emplace(type, made).first->second;
  kept_.keep(type, made);
  return made;
}

}  // namespace wherry::datatype
