// Datatypes of the program that outlive the program's own handles.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "mpi/api.hpp"

namespace wherry::run {

/// A program may free a datatype as soon as the non-blocking call that uses it has returned (MPI 4.1, 5.1.9).
class HeldTypes {
 public:
  explicit HeldTypes(const mpi::Api& api) : api_(api) {}
  HeldTypes(const HeldTypes&) = delete;
  HeldTypes& operator=(const HeldTypes&) = delete;
  ~HeldTypes();

  /// Puts a duplicate that lives as long as this object in the place of a type that can be freed.
  void hold(MPI_Datatype& type);

 private:
  MPI_Datatype duplicate(MPI_Datatype type) const;

  const mpi::Api& api_;
  std::vector<std::pair<MPI_Datatype, MPI_Datatype>> held_;  // the program's, and what stands for it
};

}  // namespace wherry::run
