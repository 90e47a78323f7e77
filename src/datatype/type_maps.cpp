#include "datatype/type_maps.hpp"

namespace wherry::window {
namespace {

using Kept = std::shared_ptr<const Shape>;

/// A duplicate works its shape out anew.
int never_copy(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Datatype, int, void* kept, void*) {
  delete static_cast<Kept*>(kept);
  return MPI_SUCCESS;
}

}  // namespace

std::shared_ptr<const Shape> Types::shape(MPI_Datatype type) {
  const std::lock_guard lock(mutex_);
  if (const auto known = predefined_.find(type); known != predefined_.end()) return known->second;
  if (Kept known = attached(type)) return known;
  auto made = std::make_shared<const Shape>(shape_of(api_, type));
  if (made->predefined) return predefined_.emplace(type, made).first->second;
  auto* const kept = new Kept(made);
  if (keyval_ == MPI_KEYVAL_INVALID || api_.Type_set_attr(type, keyval_, kept) != MPI_SUCCESS) delete kept;
  return made;
}

Kept Types::attached(MPI_Datatype type) {
  if (keyval_ == MPI_KEYVAL_INVALID &&
      api_.Type_create_keyval(never_copy, forget, &keyval_, nullptr) != MPI_SUCCESS)
    return nullptr;
  void* value = nullptr;
  int found = 0;
  if (api_.Type_get_attr(type, keyval_, &value, &found) != MPI_SUCCESS || found == 0) return nullptr;
  return *static_cast<Kept*>(value);
}

}  // namespace wherry::window
