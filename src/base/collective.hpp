// The collectives that Wherry can replace, and what they are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace wherry {

// One row for each of them: tools/mpi_functions.toml, from which collectives.inc is made.

enum class Collective {
#define COLLECTIVE(value, name, nonblocking, arguments, variable) value,
#include "collectives.inc"
#undef COLLECTIVE
};

struct CollectiveName {
  std::string_view mpi;       // "MPI_Alltoall"
  std::string_view variable;  // "WHERRY_ALLTOALL": the setting that names its strategy
};

/// In the order of Collective.
inline constexpr CollectiveName collective_names[] = {
#define COLLECTIVE(value, name, nonblocking, arguments, variable) {"MPI_" #name, #variable},
#include "collectives.inc"
#undef COLLECTIVE
};

inline constexpr std::size_t collectives = std::size(collective_names);

constexpr std::size_t index_of(Collective c) { return static_cast<std::size_t>(c); }
constexpr std::string_view name_of(Collective c) { return collective_names[index_of(c)].mpi; }
/// Whether its ranks meet only their neighbors in the communicator's topology.
constexpr bool is_neighborhood(Collective c) { return name_of(c).starts_with("MPI_Neighbor_"); }

/// What limits the algorithms of a call, alike on all ranks.
enum class Limit : std::uint32_t {
  none,
  in_place,  // an all-to-all whose data to send lies where data is received
  in_order,  // a reduction whose operation does not commute
};

}  // namespace wherry
