#include "datatype/type_maps.hpp"

namespace wherry::window {

std::shared_ptr<const Shape> Types::shape(MPI_Datatype type) {
  const std::lock_guard lock(mutex_);
  if (const auto known = predefined_.find(type); known != predefined_.end()) return known->second;
  if (std::shared_ptr<const Shape> known = kept_.find(type)) return known;
  auto made = std::make_shared<const Shape>(shape_of(api_, type));
  if (made->predefined) return predefined_.emplace(type, made).first->second;
  kept_.keep(type, made);
  return made;
}

}  // namespace wherry::window
