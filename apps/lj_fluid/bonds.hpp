// Harmonic bonds between pairs of particles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lj_fluid/particle.hpp"
#include "lj_fluid/physics.hpp"

namespace lj_fluid {

/// The energy of a bond is stiffness / 2 (distance - length)^2.
inline constexpr double bond_stiffness = 100, bond_length = 1;

/// Who is paired with whom: 1 with 2, 3 with 4, and so on.
inline std::uint64_t partner_of(std::uint64_t identity) {
  return identity % 2 == 1 ? identity + 1 : identity - 1;
}

/// Two sites.
struct Bond {
  std::uint32_t first, second;
};

/// Adds forces to both sites of each bond, and to the totals if there are any.
void add_bonds(std::span<Site> sites, std::span<const Bond> bonds, Totals* totals);

/// Sites by the identity of their particle.
class SitesByIdentity {
 public:
  SitesByIdentity(std::span<const Site> sites, std::span<const std::uint64_t> identities);
  /// Where the particle, or the image of it that is nearest to this position, is; none: not here.
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t nearest(std::uint64_t identity, const Vector& to) const;

 private:
  struct Entry {
    std::uint64_t identity;
    std::uint32_t site;
  };
  std::span<const Site> sites_;
  std::vector<Entry> entries_;
};

}  // namespace lj_fluid
