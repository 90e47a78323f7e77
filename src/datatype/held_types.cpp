#include "datatype/held_types.hpp"

#include <algorithm>

#include "datatype/type_facts.hpp"

namespace wherry::run {

HeldTypes::~HeldTypes() {
  for (auto& [program, own] : held_)
    if (own != program) api_.Type_free(&own);
}

/// The type itself if it need not be held, or cannot be: its error shows where it is used.
MPI_Datatype HeldTypes::duplicate(MPI_Datatype type) const {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const bool lasts = type == MPI_DATATYPE_NULL || facts_of(api_, type).predefined;
  return !lasts && api_.Type_dup(type, &made) == MPI_SUCCESS ? made : type;
}

void HeldTypes::hold(MPI_Datatype& type) {
  // Blocks of one type follow each other.
  const auto known =
      std::find_if(held_.rbegin(), held_.rend(), [=](const auto& h) { return h.first == type; });
  type = known != held_.rend() ? known->second : held_.emplace_back(type, duplicate(type)).second;
}

}  // namespace wherry::run
