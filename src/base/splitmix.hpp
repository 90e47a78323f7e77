// Pseudo-random numbers by splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the same with every C++ library.
#pragma once

#include <cstdint>

namespace wherry {

inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15;

/// The generator's output for a state; the next state is splitmix_step more.
constexpr std::uint64_t splitmix_output(std::uint64_t state) {
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Output i of the generator that begins with state 0: numbers next to each other differ in half of their bits, on
/// average.
constexpr std::uint64_t splitmix(std::uint64_t i) { return splitmix_output((i + 1) * splitmix_step); }

}  // namespace wherry
