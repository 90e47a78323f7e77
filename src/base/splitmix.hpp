// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers that look random, with every library.
#pragma once

#include <cstdint>

namespace wherry {

inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15;

/// What the generator gives for a state. The next state is a step further.
constexpr std::uint64_t splitmix_output(std::uint64_t state) {
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Number i of the sequence from state 0: one more or less in i changes half of the bits.
constexpr std::uint64_t splitmix(std::uint64_t i) { return splitmix_output((i + 1) * splitmix_step); }

}  // namespace wherry
