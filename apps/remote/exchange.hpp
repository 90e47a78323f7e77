// Elements that go to the rank where they belong.
#pragma once

#include <mpi.h>

#include <vector>

#include "support/mpi/comm.hpp"
#include "support/mpi/elements.hpp"

namespace remote {

/// What all ranks have for this one, in their order. `mine` is in the order of the ranks that it is for. Collective.
template <class Element>
std::vector<Element> exchanged(const std::vector<Element>& mine, const std::vector<int>& counts,
                               MPI_Comm comm) {
  std::vector<int> arriving(counts.size());
  MPI_Alltoall(counts.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, comm);
  const std::vector<int> out = apps::begins(counts), in = apps::begins(arriving);
  std::vector<Element> arrived(static_cast<std::size_t>(in.back()));
  const apps::ElementType<Element> type;
  MPI_Alltoallv(mine.data(), counts.data(), out.data(), type, arrived.data(), arriving.data(), in.data(),
                type, comm);
  return arrived;
}

/// What all ranks have, in their order, on all of them. Collective.
template <class Element>
std::vector<Element> gathered(const std::vector<Element>& mine, MPI_Comm comm) {
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(apps::size_of(comm)));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  const std::vector<int> places = apps::begins(counts);
  std::vector<Element> all(static_cast<std::size_t>(places.back()));
  const apps::ElementType<Element> type;
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), places.data(), type, comm);
  return all;
}

}  // namespace remote
