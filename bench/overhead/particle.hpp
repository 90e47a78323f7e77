// The particle of ESPResSo's issue 4415, made again in its sizes: 624 bytes as its members are declared, 592 with those
// of the parts in another order (328 and 304 of these are the properties), 576 with compact lists. Its members'
// names and meanings are this project's own choice.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "wherry/compact_vector.hpp"

namespace overhead {

/// What the issue removes from its messages, one after the other. Each step has types of its own, for Boost's traits
/// are of types.
enum class Step {
  standard,      // Boost.MPI as it comes
  make_array,    // no lengths of arrays
  no_version,    // no versions of vectors
  no_tracking,   // no tracking of vectors' addresses
  mpi_datatype,  // vectors are MPI datatypes
  bitwise,       // parts of particles are copied with their padding
  reordered,     // members in an order with less padding
  compact        // lists with lengths of 16 bits
};

template <Step step, class T, std::size_t n>
struct Storage {
  T values[n]{};
};
/// As the vectors, it consists of a storage, which is a class of its own.
template <Step step, class T, std::size_t n>
struct Vector {
  Storage<step, T, n> storage;
};
template <Step step>
using Three = Vector<step, double, 3>;
template <Step step>
using Four = Vector<step, double, 4>;

template <Step step>
struct DeclaredProperties {
  int identity = -1, molecule = 0, type = 0;
  double mass = 1;
  Three<step> inertia;
  unsigned char rotates = 0;
  double charge = 0;
  Three<step> mobility;
  double dipole = 0;
  bool is_virtual = false;
  int relative_to = 0;
  double distance = 0;
  Four<step> relative, orientation;
  Three<step> friction, rotational_friction, slip;
  unsigned char fixed = 0;
  Three<step> external_force, external_torque;
  bool swims = false;
  double swimming_force = 0, swimming_velocity = 0;
};
template <Step step>
struct ReorderedProperties {
  int identity = -1, molecule = 0, type = 0, relative_to = 0;
  double mass = 1, charge = 0, dipole = 0, distance = 0;
  Three<step> inertia, mobility;
  Four<step> relative, orientation;
  Three<step> friction, rotational_friction, slip, external_force, external_torque;
  double swimming_force = 0, swimming_velocity = 0;
  unsigned char rotates = 0, fixed = 0;
  bool is_virtual = false, swims = false;
};
template <Step step>
struct DeclaredLocal {
  bool is_ghost = false;
  double offset = 0;
  short direction = 0;
  Vector<step, int, 3> image;
  Three<step> old_position;
  double noise[2]{};
};
template <Step step>
struct ReorderedLocal {
  double offset = 0;
  Three<step> old_position;
  double noise[2]{};
  Vector<step, int, 3> image;
  short direction = 0;
  bool is_ghost = false;
};

template <Step step>
using Properties =
    std::conditional_t<(step >= Step::reordered), ReorderedProperties<step>, DeclaredProperties<step>>;
template <Step step>
using Local = std::conditional_t<(step >= Step::reordered), ReorderedLocal<step>, DeclaredLocal<step>>;
template <Step step>
struct Position {
  Three<step> position;
  Four<step> orientation;
  Three<step> director;
};
template <Step step>
struct Momentum {
  Three<step> velocity, angular;
};
template <Step step>
struct Force {
  Three<step> force, torque;
};
template <Step step>
using List = std::conditional_t<(step >= Step::compact), wherry::compact_vector<int>, std::vector<int>>;

template <Step step>
struct Particle {
  Properties<step> properties;
  Position<step> position;
  Momentum<step> momentum;
  Force<step> force;
  Local<step> local;
  List<step> bonds, exclusions;
};
static_assert(sizeof(Particle<Step::standard>) == 624 && sizeof(Particle<Step::reordered>) == 592);
static_assert(sizeof(Properties<Step::standard>) == 328 && sizeof(Properties<Step::reordered>) == 304);
static_assert(sizeof(Particle<Step::compact>) == 576);

template <Step step>
void copy(const lj_fluid::Vector& from, Three<step>& to) {
  for (std::size_t i = 0; i < 3; ++i) to.storage.values[i] = from[i];
}
template <Step step>
lj_fluid::Vector copied(const Three<step>& from) {
  return {from.storage.values[0], from.storage.values[1], from.storage.values[2]};
}

/// What lj_fluid uses of a particle; the rest travels as it is.
template <Step step>
Particle<step> from_fluid(const lj_fluid::Particle& particle) {
  Particle<step> made;
  made.properties.identity = static_cast<int>(particle.properties.identity);
  copy<step>(particle.position.position, made.position.position);
  copy<step>(particle.momentum.velocity, made.momentum.velocity);
  copy<step>(particle.force.force, made.force.force);
  for (const std::uint64_t partner : particle.bonds) made.bonds.push_back(static_cast<int>(partner));
  for (const std::uint64_t partner : particle.exclusions)
    made.exclusions.push_back(static_cast<int>(partner));
  return made;
}
template <Step step>
lj_fluid::Particle to_fluid(const Particle<step>& particle) {
  lj_fluid::Particle made;
  made.properties.identity = static_cast<std::uint64_t>(particle.properties.identity);
  made.position.position = copied<step>(particle.position.position);
  made.momentum.velocity = copied<step>(particle.momentum.velocity);
  made.force.force = copied<step>(particle.force.force);
  for (const int partner : particle.bonds) made.bonds.push_back(static_cast<std::uint64_t>(partner));
  for (const int partner : particle.exclusions)
    made.exclusions.push_back(static_cast<std::uint64_t>(partner));
  return made;
}

}  // namespace overhead
