#include "datatype/contents.hpp"

#include "datatype/decode.hpp"

namespace wherry::datatype {

Contents::Contents(const mpi::Api& api, MPI_Datatype type, const mpi::Envelope& envelope)
    : api_(api), readable_(read(type, envelope)) {}

bool Contents::read(MPI_Datatype type, const mpi::Envelope& e) {
  if (api_.Type_get_contents_c == nullptr) return read_small(type, e);
  std::vector<int> integers(static_cast<std::size_t>(e.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(e.addresses));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(e.large_counts));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(e.types));
  if (api_.Type_get_contents_c(type, e.integers, e.addresses, e.large_counts, e.types, integers.data(),
                               addresses.data(), counts.data(), types.data()) != MPI_SUCCESS)
    return false;
  types_ = std::move(types);
  integers_ = integers.size();
  numbers_.assign(integers.begin(), integers.end());
  numbers_.insert(numbers_.end(), addresses.begin(), addresses.end());
  numbers_.insert(numbers_.end(), counts.begin(), counts.end());
  return true;
}

bool Contents::read_small(MPI_Datatype type, const mpi::Envelope& e) {
  std::vector<int> integers(static_cast<std::size_t>(e.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(e.addresses));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(e.types));
  if (e.large_counts != 0 ||
      api_.Type_get_contents(type, static_cast<int>(e.integers), static_cast<int>(e.addresses),
                             static_cast<int>(e.types), integers.data(), addresses.data(),
                             types.data()) != MPI_SUCCESS)
    return false;
  types_ = std::move(types);
  integers_ = integers.size();
  numbers_.assign(integers.begin(), integers.end());
  numbers_.insert(numbers_.end(), addresses.begin(), addresses.end());
  return true;
}

Contents::~Contents() {
  for (MPI_Datatype& type : types_) {
    const mpi::Envelope envelope = mpi::envelope_of(api_, type);
    if (envelope.readable && !is_predefined(envelope.combiner)) api_.Type_free(&type);
  }
}

}  // namespace wherry::datatype
