// The particles of this rank's domain: they migrate as whole particles; forces and motion use arrays of what they need.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "lj_fluid/bonds.hpp"
#include "lj_fluid/forces.hpp"
#include "lj_fluid/transport.hpp"

namespace lj_fluid {

struct Lengths {
  double cutoff, skin;
  double reach() const { return cutoff + skin; }
};

class Domain {
 public:
  /// Collective. grid: from process_grid(), for these lengths.
  Domain(MPI_Comm comm, const wherry::Box<3>& box, const std::array<int, 3>& grid, const Lengths& lengths,
         std::vector<Particle> particles, const MakeTransport& make_transport = by_wherry());

  std::size_t size() const { return velocities_.size(); }
  std::span<Site> sites() { return {sites_.data(), size()}; }
  std::span<Vector> velocities() { return velocities_; }
  std::span<const Vector> old_positions() const { return old_positions_; }  // at the last rebuild()
  std::span<const std::uint64_t> identities() const { return {identities_.data(), size()}; }
  std::size_t ghosts() const { return ghosts_.size(); }
  std::span<const Site> ghost_sites() const { return std::span(sites_).subspan(size(), ghosts()); }
  const wherry::Decomposition<3>& decomposition() const { return decomposition_; }
  std::size_t listed() const { return lists_.own.others.size() + lists_.ghosts.others.size(); }

  /// Particles go where they belong, in an order that depends on nothing but positions and identities; ghosts and lists
  /// are made anew. moved: how far any particle is at most from where it was at the last rebuild, the same on all
  /// ranks. Collective. Throws usage_error if a position is not finite, on the rank that has it: the
  /// others wait, so the program must end.
  void rebuild(double moved);

  /// Forces on all own particles, at the positions of now. totals: null, or what this rank's pairs are added to.
  /// Collective: positions of ghosts travel while pairs of own particles are computed, forces on ghosts as well.
  void compute_forces(const Potential& potential, Totals* totals);

  /// Of this rank, in messages and waiting for them, packing included.
  struct Times {
    double migrate_s = 0, rebuild_s = 0, update_s = 0, return_s = 0;
  };
  const Times& times() const { return times_; }
  const Transport& transport() const { return *transport_; }

  /// This rank's particles. Local.
  std::vector<Atom> atoms() const;

 private:
  void migrate(Transport::Goal goal);
  bool is_inside(const Vector& position) const;
  void leave(std::size_t particle, Transport::Migrants& messages, int owner);
  void arrive(Particle&& particle);
  void close_gaps(const std::vector<bool>& gone);
  void sort();
  void rebuild_ghosts();
  void find_bonds();
  void add_bond(std::uint32_t particle, std::uint64_t partner, const SitesByIdentity& sites);
  std::vector<std::span<const std::uint64_t>> exclusions() const;
  void add_forces_meanwhile(const PairLists& lists, std::size_t first, std::size_t last,
                            const Potential& potential, Totals* totals, double& sum_s);
  template <class Exchange>
  static void timed(double& sum_s, Exchange exchange) {
    const double start = MPI_Wtime();
    exchange();
    sum_s += MPI_Wtime() - start;
  }

  wherry::Decomposition<3> decomposition_;
  std::unique_ptr<Transport> transport_;
  double reach_;
  Cells cells_;
  std::vector<Particle> particles_;  // in any order; what they have of position, velocity and force is old

  // In the order of cells: of own particles, then of ghosts, and a site that is nowhere.
  std::vector<Site> sites_;
  std::vector<std::uint64_t> identities_;
  // Of own particles alone.
  std::vector<Vector> velocities_, old_positions_;
  std::vector<std::uint32_t> places_;  // in particles_
  std::vector<Site> ghosts_;
  BothLists lists_;
  std::vector<Bond> bonds_;
  std::uint64_t bonds_of_all_ = 0;
  bool any_exclusions_ = false;  // of particles that were here
  Times times_;
};

}  // namespace lj_fluid
