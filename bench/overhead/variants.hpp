// What the study compares.
#pragma once

#include <string>
#include <vector>

#include "overhead/archives.hpp"

namespace overhead {

/// Of the steps.
inline constexpr const char* names[] = {"boost",        "make_array", "no versions", "no tracking",
                                        "MPI datatype", "bitwise",    "reordered",   "compact"};

struct Variant {
  std::string name;
  lj_fluid::MakeTransport make;
};
/// Where Boost.MPI is not linked, there are none.
[[gnu::weak]] std::vector<Variant> boost_variants();

/// Bytes that an object is in a message.
struct Size {
  std::string object, variant;
  std::size_t bytes;
};
[[gnu::weak]] std::vector<Size> boost_sizes();

/// Of the objects that this step sends: a message of one of them.
template <Step step, class Archive>
void add_sizes(std::vector<Size>& sizes) {
  const auto add = [&]<class T>(const char* object, const T& of) {
    sizes.push_back({object, names[static_cast<std::size_t>(step)],
                     Archive::pack(std::span<const T>(&of, 1), MPI_COMM_SELF).size()});
  };
  Particle<step> particle;
  particle.bonds = {1, 2, 3, 4}, particle.exclusions = {5, 6};
  add("vector of three ints", Vector<step, int, 3>{});
  add("position", particle.position);
  add("force", particle.force);
  add("properties", particle.properties);
  add("particle with 4 bonds and 2 exclusions", particle);
  sizes.push_back({"particle in memory", names[static_cast<std::size_t>(step)], sizeof particle});
  sizes.push_back(
      {"properties in memory", names[static_cast<std::size_t>(step)], sizeof particle.properties});
}

}  // namespace overhead
