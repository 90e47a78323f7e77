// Datatypes of the program that outlive the program's own handles.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "datatype/type_facts.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

/// A program may free a datatype as soon as the nonblocking call that uses it has returned (MPI 4.1, 5.1.9).
class HeldTypes {
 public:
  explicit HeldTypes(const mpi::Api& api) : api_(api) {}
  HeldTypes(const HeldTypes&) = delete;
  HeldTypes& operator=(const HeldTypes&) = delete;
  ~HeldTypes();

  /// Puts an equal type that lives as long as this object in the place of a type that can be freed.
  void hold(MPI_Datatype& type);

 private:
  MPI_Datatype duplicate(MPI_Datatype type) const;

  const mpi::Api& api_;
  std::vector<std::pair<MPI_Datatype, MPI_Datatype>> held_;  // the program's, and what stands for it
};

inline HeldTypes::~HeldTypes() {
  for (auto& [program, own] : held_)
    if (own != program) api_.Type_free(&own);
}

/// The type itself if it need not be held, or cannot be: its error shows where it is used.
inline MPI_Datatype HeldTypes::duplicate(MPI_Datatype type) const {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const bool lasts = type == MPI_DATATYPE_NULL || facts_of(api_, type).predefined;
  // Not MPI_Type_dup, which calls the program's copy functions of attributes.
  if (lasts || api_.Type_contiguous(1, type, &made) != MPI_SUCCESS) return type;
  api_.Type_commit(&made);
  return made;
}

inline void HeldTypes::hold(MPI_Datatype& type) {
  // Blocks of one type follow each other.
  const auto known =
      std::find_if(held_.rbegin(), held_.rend(), [=](const auto& h) { return h.first == type; });
  type = known != held_.rend() ? known->second : held_.emplace_back(type, duplicate(type)).second;
}

}  // namespace wherry::datatype
