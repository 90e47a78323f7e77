#include "mpi/api.hpp"

namespace wherry::mpi {

const Api& linked_api() {
  static const Api api = {
#define FUNCTION(name) &::PMPI_##name,
#include "mpi/functions.inc"
#undef FUNCTION
  };
  return api;
}

}  // namespace wherry::mpi
