#include "datatype/contents.hpp"

namespace wherry::datatype {

namespace {

/// Libraries before MPI-4 have no large-count types, and no functions that read them.
TypeEnvelope small_envelope(const mpi::Api& api, MPI_Datatype type) {
  TypeEnvelope e;
  int integers = 0, addresses = 0, types = 0;
  e.readable = api.Type_get_envelope(type, &integers, &addresses, &types, &e.combiner) == MPI_SUCCESS;
  e.integers = integers;
  e.addresses = addresses;
  e.types = types;
  return e;
}

}  // namespace

TypeEnvelope envelope_of(const mpi::Api& api, MPI_Datatype type) {
  if (api.Type_get_envelope_c == nullptr) return small_envelope(api, type);
  TypeEnvelope e;
  e.readable = api.Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.types,
                                       &e.combiner) == MPI_SUCCESS;
  return e;
}

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

MPI_Datatype inner_of(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& e) {
  int count = 0;
  MPI_Count large_count = 0;
  MPI_Aint address = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  const bool one = e.types == 1 && e.addresses == 0 && e.integers + e.large_counts <= 1;
  if (!one) return MPI_DATATYPE_NULL;
  const int code =
      api.Type_get_contents_c != nullptr
          ? api.Type_get_contents_c(type, e.integers, 0, e.large_counts, 1, &count, &address, &large_count,
                                    &inner)
          : api.Type_get_contents(type, static_cast<int>(e.integers), 0, 1, &count, &address, &inner);
  return code == MPI_SUCCESS ? inner : MPI_DATATYPE_NULL;
}

Contents::Contents(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& envelope)
    : api_(api), readable_(read(type, envelope)) {}

bool Contents::read(MPI_Datatype type, const TypeEnvelope& e) {
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

bool Contents::read_small(MPI_Datatype type, const TypeEnvelope& e) {
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
    const TypeEnvelope envelope = envelope_of(api_, type);
    if (envelope.readable && !is_predefined(envelope.combiner)) api_.Type_free(&type);
  }
}

}  // namespace wherry::datatype
