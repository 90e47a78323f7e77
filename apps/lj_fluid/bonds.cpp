#include "lj_fluid/bonds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lj_fluid {
namespace {

double square_distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

}  // namespace

void add_bonds(std::span<Site> sites, std::span<const Bond> bonds, Totals* totals) {
  for (const Bond& bond : bonds) {
    Site &a = sites[bond.first], &b = sites[bond.second];
    const double distance = std::sqrt(square_distance(a.position, b.position));
    const double stretch = distance - bond_length, scale = -bond_stiffness * stretch / distance;
    for (std::size_t k = 0; k < 3; ++k) {
      const double force = scale * (a.position[k] - b.position[k]);
      a.force[k] += force;
      b.force[k] -= force;
    }
    if (totals == nullptr) continue;
    totals->energy += bond_stiffness / 2 * stretch * stretch;
    totals->virial += scale * distance * distance;
  }
}

SitesByIdentity::SitesByIdentity(std::span<const Site> sites, std::span<const std::uint64_t> identities)
    : sites_(sites) {
  entries_.reserve(identities.size());
  for (std::size_t i = 0; i < identities.size(); ++i)
    entries_.push_back({identities[i], static_cast<std::uint32_t>(i)});
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return a.identity != b.identity ? a.identity < b.identity : a.site < b.site;
  });
}

std::uint32_t SitesByIdentity::nearest(std::uint64_t identity, const Vector& to) const {
  std::uint32_t found = none;
  double least = std::numeric_limits<double>::infinity();
  for (const Entry& entry : std::ranges::equal_range(entries_, identity, {}, &Entry::identity)) {
    const double square = square_distance(sites_[entry.site].position, to);
    if (square < least) least = square, found = entry.site;
  }
  return found;
}

}  // namespace lj_fluid
