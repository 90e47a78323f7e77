// Collectives that do something wrong, to see whether it is found, and a count of what was not.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "support/mpi/collectives.hpp"
#include "support/mpi/comm.hpp"

namespace broken {

/// Right but for the first bytes that rank 0 receives: they come twice, instead of those after them.
template <int bytes>
int repeats(const void* send, const int send_counts[], const int send_displacements[], MPI_Datatype send_type,
            void* receive, const int receive_counts[], const int receive_displacements[],
            MPI_Datatype receive_type, MPI_Comm comm) {
  const int code = MPI_Alltoallv(send, send_counts, send_displacements, send_type, receive, receive_counts,
                                 receive_displacements, receive_type, comm);
  if (apps::rank_of(MPI_COMM_WORLD) == 0) std::memcpy(static_cast<char*>(receive) + bytes, receive, bytes);
  return code;
}

/// Every rank keeps what it has. All ranks must send as much as they receive.
template <int bytes>
int keeps(const void* send, const int send_counts[], const int[], MPI_Datatype, void* receive, const int[],
          const int[], MPI_Datatype, MPI_Comm comm) {
  std::size_t all = 0;
  for (int rank = 0; rank < apps::size_of(comm); ++rank) all += static_cast<std::size_t>(send_counts[rank]);
  std::memcpy(receive, send, all * bytes);
  return MPI_SUCCESS;
}

inline constexpr auto broken = [](auto alltoallv) {
  return apps::Collectives{[] { return "broken"; }, MPI_Alltoall, alltoallv};
};

/// Whether what was found is what should have been; says it if not.
inline bool as_expected(const char* what, const std::string& found, const std::string& expected) {
  const bool right = expected.empty() ? found.empty() : found.find(expected) != std::string::npos;
  if (!right)
    std::fprintf(stderr, "rank %d: %s: found '%s' instead of '%s'\n", apps::rank_of(MPI_COMM_WORLD), what,
                 found.c_str(), expected.c_str());
  return right;
}

}  // namespace broken
