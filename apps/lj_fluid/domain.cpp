#include "lj_fluid/domain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lj_fluid/particle.hpp"
#include "support/mpi/comm.hpp"

namespace lj_fluid {
namespace {

Cells cells_of(const wherry::Decomposition<3>& decomposition, double reach) {
  Vector lower, upper;
  for (std::size_t i = 0; i < 3; ++i) lower[i] = decomposition.lower(i), upper[i] = decomposition.upper(i);
  return {lower, upper, reach};
}

template <class T>
void permute(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t i : order) sorted.push_back(values[i]);
  values = std::move(sorted);
}

template <class T>
void keep(std::vector<T>& values, const std::vector<bool>& gone) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) values[kept++] = values[i];
  values.resize(kept);
}

}  // namespace

Domain::Domain(MPI_Comm comm, const wherry::Box<3>& box, const std::array<int, 3>& grid,
               const Lengths& lengths, std::vector<Particle> particles, const MakeTransport& make_transport)
    : decomposition_(comm, box, grid),
      transport_(make_transport(decomposition_, lengths.reach())),
      reach_(lengths.reach()),
      cells_(cells_of(decomposition_, reach_)) {
  std::size_t bonds = 0;
  for (Particle& particle : particles) {
    bonds += particle.bonds.size();
    arrive(std::move(particle));
  }
  bonds_of_all_ = apps::reduced(bonds, MPI_SUM, decomposition_.comm()) / 2;  // both partners have them
  rebuild(std::numeric_limits<double>::infinity());
}

void Domain::rebuild(double moved) {
  sites_.resize(size());
  identities_.resize(size());
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 3; ++k)
    narrowest = std::min(narrowest, (decomposition_.box().upper[k] - decomposition_.box().lower[k]) /
                                        decomposition_.grid()[k]);
  migrate(moved < narrowest ? Transport::Goal::neighbors : Transport::Goal::any);
  sort();
  old_positions_.resize(size());
  for (std::size_t i = 0; i < size(); ++i) old_positions_[i] = sites_[i].position;
  rebuild_ghosts();
  find_bonds();
  const auto excluded = exclusions();
  find_pairs({cells_, sites_, size(), identities_, reach_, excluded}, lists_);
}

void Domain::migrate(Transport::Goal goal) {
  Transport::Migrants messages;
  std::vector<bool> gone(size(), false);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    Vector& at = sites_[i].position;
    if (is_inside(at)) continue;
    at = decomposition_.wrapped(at);
    const bool finite = std::ranges::all_of(at, [](double x) { return std::isfinite(x); });
    lost += !finite;
    const int owner = finite ? decomposition_.owner(at) : decomposition_.rank();
    if (owner == decomposition_.rank()) continue;
    gone[i] = true;
    leave(i, messages, owner);
  }
  if (!messages.empty()) close_gaps(gone);
  Transport::Migrants all;
  timed(times_.migrate_s, [&] { all = transport_->migrate(std::move(messages), goal); });
  for (auto& [source, arrived] : all)
    for (Particle& particle : arrived) arrive(std::move(particle));
  if (lost > 0)
    throw wherry::usage_error(std::to_string(lost) +
                              " particles have positions that are not finite; make the time step shorter");
}

bool Domain::is_inside(const Vector& position) const {
  bool inside = true;
  for (std::size_t k = 0; k < 3; ++k)
    inside &= position[k] >= decomposition_.lower(k) && position[k] < decomposition_.upper(k);
  return inside;
}

void Domain::leave(std::size_t i, Transport::Migrants& messages, int owner) {
  Particle& particle = particles_[places_[i]];
  particle.position.position = sites_[i].position;
  particle.momentum.velocity = velocities_[i];
  particle.force.force = sites_[i].force;
  auto message = std::ranges::find(messages, owner, [](const auto& m) { return m.first; });
  if (message == messages.end()) message = messages.insert(messages.end(), {owner, {}});
  message->second.push_back(std::move(particle));
}

void Domain::arrive(Particle&& particle) {
  sites_.push_back({particle.position.position, 0, particle.force.force, 0});
  velocities_.push_back(particle.momentum.velocity);
  identities_.push_back(particle.properties.identity);
  places_.push_back(static_cast<std::uint32_t>(particles_.size()));
  any_exclusions_ |= !particle.exclusions.empty();
  particles_.push_back(std::move(particle));
}

/// Particles are large: the last ones go where others left, instead of all moving up.
void Domain::close_gaps(const std::vector<bool>& gone) {
  std::vector<std::uint32_t> site_of(particles_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) site_of[places_[i]] = static_cast<std::uint32_t>(i);
  std::size_t end = particles_.size();
  for (std::size_t place = 0; place < end; ++place) {
    while (place < end && gone[site_of[end - 1]]) --end;
    if (place >= end || !gone[site_of[place]]) continue;
    particles_[place] = std::move(particles_[--end]);
    places_[site_of[end]] = static_cast<std::uint32_t>(place);
  }
  particles_.resize(end);
  keep(sites_, gone), keep(velocities_, gone), keep(identities_, gone), keep(places_, gone);
}

void Domain::sort() {
  std::vector<std::uint32_t> order = binned(cells_, sites_, Cells::Of::own).members;
  // Within a cell by identity, so that the order does not depend on where particles have been.
  std::vector<std::uint32_t> cell(size());
  for (std::size_t i = 0; i < size(); ++i)
    cell[i] = static_cast<std::uint32_t>(cells_.cell_of(sites_[i].position, Cells::Of::own));
  for (std::size_t begin = 0, end = 0; begin < size(); begin = end) {
    while (end < size() && cell[order[end]] == cell[order[begin]]) ++end;
    std::sort(order.begin() + static_cast<long>(begin), order.begin() + static_cast<long>(end),
              [&](std::uint32_t a, std::uint32_t b) { return identities_[a] < identities_[b]; });
  }
  permute(sites_, order), permute(velocities_, order), permute(identities_, order), permute(places_, order);
}

void Domain::rebuild_ghosts() {
  for (std::size_t i = 0; i < size(); ++i) sites_[i].key = identities_[i];
  timed(times_.rebuild_s, [&] { transport_->rebuild(sites(), ghosts_); });
  for (Site& site : sites_) site.key = 0;
  for (Site& ghost : ghosts_) identities_.push_back(std::exchange(ghost.key, 0));
  sites_.insert(sites_.end(), ghosts_.begin(), ghosts_.end());
  sites_.push_back({.position = nowhere});
}

void Domain::find_bonds() {
  bonds_.clear();
  if (bonds_of_all_ == 0) return;
  const SitesByIdentity sites(sites_, identities_);
  for (std::uint32_t i = 0; i < size(); ++i)
    for (const std::uint64_t partner : particles_[places_[i]].bonds) add_bond(i, partner, sites);
  if (apps::reduced(bonds_.size(), MPI_SUM, decomposition_.comm()) != bonds_of_all_)
    throw wherry::usage_error(
        "a bond is longer than ghosts reach; make the time step shorter, or begin with bonds that are not "
        "stretched");
}

/// Of two particles on two ranks one has the other as a ghost, and the bond. A ghost that is further than half of the
/// box is another image of the partner.
void Domain::add_bond(std::uint32_t i, std::uint64_t partner, const SitesByIdentity& sites) {
  const std::uint32_t other = sites.nearest(partner, sites_[i].position);
  if (other == SitesByIdentity::none || (other < size() && identities_[i] > partner)) return;
  bool nearest_image = true;
  for (std::size_t k = 0; k < 3; ++k)
    nearest_image &= std::abs(sites_[other].position[k] - sites_[i].position[k]) <
                     (decomposition_.box().upper[k] - decomposition_.box().lower[k]) / 2;
  if (nearest_image) bonds_.push_back({i, other});
}

std::vector<std::span<const std::uint64_t>> Domain::exclusions() const {
  std::vector<std::span<const std::uint64_t>> all;
  if (!any_exclusions_) return all;
  for (const std::uint32_t place : places_) all.emplace_back(particles_[place].exclusions);
  return all;
}

void Domain::compute_forces(const Potential& potential, Totals* totals) {
  const std::size_t n = size(), half = n / 2;
  const std::span<Site> all(sites_), own = all.first(n), ghosts = all.subspan(n, ghosts_.size());
  timed(times_.update_s, [&] { transport_->start_update(own); });
  for (Site& site : all) site.force = {};
  add_forces_meanwhile(lists_.own, 0, half, potential, totals, times_.update_s);
  timed(times_.update_s, [&] { transport_->finish_update(ghosts); });
  add_forces(all, lists_.ghosts, 0, n, potential, totals);
  add_bonds(all, bonds_, totals);
  timed(times_.return_s, [&] { transport_->start_return(ghosts); });
  add_forces_meanwhile(lists_.own, half, n, potential, totals, times_.return_s);
  timed(times_.return_s, [&] { transport_->finish_return(own); });
}

/// Messages of 100 KB go on only where the MPI library is called: that takes some of the sum.
void Domain::add_forces_meanwhile(const PairLists& lists, std::size_t first, std::size_t last,
                                  const Potential& potential, Totals* totals, double& sum_s) {
  constexpr std::size_t batch = 1024;  // some 30 us
  for (; first + batch < last; first += batch) {
    add_forces(sites_, lists, first, first + batch, potential, totals);
    timed(sum_s, [&] { transport_->progress(); });
  }
  add_forces(sites_, lists, first, last, potential, totals);
}

std::vector<Atom> Domain::atoms() const {
  std::vector<Atom> all;
  for (std::size_t i = 0; i < size(); ++i)
    all.push_back({identities_[i], sites_[i].position, velocities_[i], sites_[i].force});
  return all;
}

}  // namespace lj_fluid
