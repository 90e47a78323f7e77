// Which scheme: a model of each one's time keeps the best few, and a short trial decides.
#pragma once

#include <string>
#include <vector>

#include "nbody/scheme.hpp"

namespace nbody {

/// What the model knows of a machine.
struct Speeds {
  double pairs_per_s;  // of a rank, for both bodies
  double bytes_per_s;  // of a rank, sending
  double message_s;    // of a short message
};

/// The time of an acceleration by a scheme.
double expected_s(const SchemeRow& scheme, double bodies, double ranks, const Speeds& speeds);

/// The numbers of the schemes that are worth trying, the most promising first. one_node: whether all ranks are on one.
std::vector<std::size_t> shortlist(std::size_t bodies, int ranks, const Speeds& speeds, bool one_node);

/// Measures the speeds. The same on all ranks. Collective.
Speeds measure(MPI_Comm comm, Team& team, const System& system, const ComputeRate& compute_rate);

struct Choice {
  std::size_t scheme;
  std::string reason;
};
/// The same on all ranks. Collective.
Choice choose(MPI_Comm comm, Team& team, const System& system, const Exchanges& with,
              const ComputeRate& compute_rate = {});

}  // namespace nbody
