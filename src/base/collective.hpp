// The collectives that Wherry can replace, and what they are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace wherry {

enum class Collective {
  alltoall,
  alltoallv,
  alltoallw,
  allgather,
  allgatherv,
  bcast,
  gather,
  scatter,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  barrier,
  // Those of neighborhoods are last (is_neighbourhood):
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
  neighbor_allgather,
  neighbor_allgatherv,
};

struct CollectiveName {
  std::string_view mpi;       // "MPI_Alltoall"
  std::string_view variable;  // "WHERRY_ALLTOALL": the setting that names its strategy
};

/// In the order of Collective.
inline constexpr CollectiveName collective_names[] = {
    {"MPI_Alltoall", "WHERRY_ALLTOALL"},
    {"MPI_Alltoallv", "WHERRY_ALLTOALLV"},
    {"MPI_Alltoallw", "WHERRY_ALLTOALLW"},
    {"MPI_Allgather", "WHERRY_ALLGATHER"},
    {"MPI_Allgatherv", "WHERRY_ALLGATHERV"},
    {"MPI_Bcast", "WHERRY_BCAST"},
    {"MPI_Gather", "WHERRY_GATHER"},
    {"MPI_Scatter", "WHERRY_SCATTER"},
    {"MPI_Reduce", "WHERRY_REDUCE"},
    {"MPI_Allreduce", "WHERRY_ALLREDUCE"},
    {"MPI_Reduce_scatter_block", "WHERRY_REDUCE_SCATTER_BLOCK"},
    {"MPI_Reduce_scatter", "WHERRY_REDUCE_SCATTER"},
    {"MPI_Barrier", "WHERRY_BARRIER"},
    {"MPI_Neighbor_alltoall", "WHERRY_NEIGHBOR_ALLTOALL"},
    {"MPI_Neighbor_alltoallv", "WHERRY_NEIGHBOR_ALLTOALLV"},
    {"MPI_Neighbor_alltoallw", "WHERRY_NEIGHBOR_ALLTOALLW"},
    {"MPI_Neighbor_allgather", "WHERRY_NEIGHBOR_ALLGATHER"},
    {"MPI_Neighbor_allgatherv", "WHERRY_NEIGHBOR_ALLGATHERV"},
};

inline constexpr std::size_t collectives = std::size(collective_names);
static_assert(collectives == static_cast<std::size_t>(Collective::neighbor_allgatherv) + 1);

constexpr std::size_t index_of(Collective c) { return static_cast<std::size_t>(c); }
constexpr std::string_view name_of(Collective c) { return collective_names[index_of(c)].mpi; }
/// Whether its ranks meet only their neighbors in the communicator's topology.
constexpr bool is_neighbourhood(Collective c) { return c >= Collective::neighbor_alltoall; }

/// What limits the algorithms of a call, alike on all ranks.
enum class Limit : std::uint32_t {
  none,
  in_place,  // an all-to-all whose data to send lies where data is received
  in_order,  // a reduction whose operation does not commute
};

}  // namespace wherry
