// Which rank has which part of space: cells of the octree with few bodies each, in the order of their keys.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "barnes_hut/keys.hpp"

namespace barnes_hut {

/// A cell with all that is in it.
struct Domain {
  Key first = 0;  // key
  int level = 0;
  std::uint64_t bodies = 0;
  int owner = 0;

  Key end() const { return first + keys_at(level); }
};

/// How many bodies each of these cells holds, on all ranks together.
using CountBodies = std::function<std::vector<std::uint64_t>(std::span<const Domain>)>;

/// Cells with at least one and at most so many bodies (more where keys do not tell them apart), in the order of their
/// keys, each with an owner: ranks have consecutive ones, and about as many bodies as the others.
std::vector<Domain> divide(std::uint64_t most, int ranks, const CountBodies& count);

}  // namespace barnes_hut
