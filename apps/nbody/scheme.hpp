// Schemes that divide the work of an acceleration among ranks: who computes which pairs, and what is exchanged for it.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "nbody/diary.hpp"
#include "nbody/exchanges.hpp"
#include "nbody/team.hpp"

namespace nbody {

/// All arrays are of all bodies on every rank; what of them is current is the scheme's affair.
struct System {
  explicit System(Bodies all) : bodies(std::move(all)), accelerations(bodies.size()) {}
  Bodies bodies;
  Vectors accelerations;
};

class Scheme {
 public:
  Scheme() = default;
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  /// The bodies that this rank moves: a part of them, or on every rank all.
  virtual Range owned() const = 0;
  /// Makes the accelerations of the owned bodies those of their places. On entry the places of the owned bodies are
  /// current, of all at the first call. Collective.
  virtual void accelerate(System& system, const Exchanges& with, Diary& diary) = 0;
};

struct SchemeRow {
  std::string name;
  std::string meaning;
  bool reproducible;  // the same bits for every number of ranks and threads
  std::unique_ptr<Scheme> (*make)(MPI_Comm comm, Team& team, std::size_t bodies);
  /// What an acceleration costs, for a choice without trying: pairs that the busiest rank computes (for both bodies, as
  /// `Team::both`), bytes that a rank sends, messages that follow each other, and bytes that it sends while it
  /// computes.
  struct Cost {
    double pairs, bytes, messages, hidden_bytes = 0;
  };
  Cost (*cost)(double bodies, double ranks);
  /// What runs instead where this has nothing to gain, and why that is so; nullptr: it may have.
  const char* instead = nullptr;
  const char* (*why_instead)(std::size_t bodies, int ranks,
                             bool one_node) = [](std::size_t, int, bool) -> const char* { return nullptr; };
};
const std::vector<SchemeRow>& schemes();

/// The number of the scheme that runs if this one is asked for, and why it is another.
struct Fitting {
  std::size_t scheme;
  const char* why = nullptr;
};
/// Collective.
Fitting scheme_for(MPI_Comm comm, std::size_t asked, std::size_t bodies);

}  // namespace nbody
