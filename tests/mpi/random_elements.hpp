// Elements of random types in memory, at the places that the type map says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "random_types.hpp"

namespace wherry::test {

using Bytes = std::vector<unsigned char>;

inline constexpr unsigned char poison = 0xee;

/// Where the bytes of `count` elements of a type lie, from the first one that they reach.
struct Elements {
  Elements(const TypeMap& map, int count) {
    TypeMap all;
    all.add(map, count, 0);
    const auto [least, most] = std::ranges::minmax(all.bytes);
    first = least;
    reach = static_cast<std::size_t>(most - least + 1);
    places.reserve(all.bytes.size());
    for (const Long byte : all.bytes) places.push_back(static_cast<std::size_t>(byte - least));
  }

  Long first = 0;
  std::size_t reach = 0;
  std::vector<std::size_t> places;
};

/// Memory that elements reach over, with as much around them.
struct Reach {
  explicit Reach(const Elements& elements)
      : places(elements.places), first(elements.first), memory(elements.reach + 2 * margin, poison) {}

  unsigned char& byte(std::size_t i) { return memory[margin + places[i]]; }
  void* data() { return memory.data() + margin - first; }

  static constexpr std::size_t margin = 64;
  const std::vector<std::size_t>& places;
  Long first;
  Bytes memory;
};

/// Whether two of the places are the same.
template <class Place>
bool overlap(std::vector<Place> places) {
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) != places.end();
}

/// Size and bounds as all libraries see them, and what they pack without fault where Wherry leaves it to them.
inline bool is_fit(const RandomType& x) {
  return !x.map.bytes.empty() && !x.hollow && !x.contested && x.text.find("LONG_DOUBLE") == std::string::npos;
}

}  // namespace wherry::test
