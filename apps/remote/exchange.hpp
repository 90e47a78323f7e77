// Elements that go to the rank where they belong.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "parallel/comm.hpp"

namespace remote {

/// A datatype of so many bytes, for as long as it lives.
class Bytes {
 public:
  explicit Bytes(std::size_t bytes) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~Bytes() { MPI_Type_free(&type_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Where parts of these sizes begin, one after the other; one number more than there are parts. Throws std::length_error.
inline std::vector<int> begins(const std::vector<int>& counts) {
  std::vector<int> places(counts.size() + 1);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    next += counts[i];
    if (next > std::numeric_limits<int>::max())
      throw std::length_error("a rank would send or receive more than 2147483647 elements; start more ranks");
    places[i + 1] = static_cast<int>(next);
  }
  return places;
}

/// What all ranks have for this one, in their order. `mine` is in the order of the ranks that it is for. Collective.
template <class Element>
std::vector<Element> exchanged(const std::vector<Element>& mine, const std::vector<int>& counts,
                               MPI_Comm comm) {
  static_assert(std::is_trivially_copyable_v<Element>);
  std::vector<int> arriving(counts.size());
  MPI_Alltoall(counts.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, comm);
  const std::vector<int> out = begins(counts), in = begins(arriving);
  std::vector<Element> arrived(static_cast<std::size_t>(in.back()));
  const Bytes element(sizeof(Element));
  MPI_Alltoallv(mine.data(), counts.data(), out.data(), element.type(), arrived.data(), arriving.data(),
                in.data(), element.type(), comm);
  return arrived;
}

/// What all ranks have, in their order, on all of them. Collective.
template <class Element>
std::vector<Element> gathered(const std::vector<Element>& mine, MPI_Comm comm) {
  static_assert(std::is_trivially_copyable_v<Element>);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(apps::size_of(comm)));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  const std::vector<int> places = begins(counts);
  std::vector<Element> all(static_cast<std::size_t>(places.back()));
  const Bytes element(sizeof(Element));
  MPI_Allgatherv(mine.data(), count, element.type(), all.data(), counts.data(), places.data(), element.type(),
                 comm);
  return all;
}

}  // namespace remote
