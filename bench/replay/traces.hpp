// Recorded and drawn sequences of references for simulations of the policy: which range, how large.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cache/entry.hpp"

namespace replay {

struct Reference {
  std::uint32_t key;
  std::uint32_t bytes;  // the same at every reference to the key
  float score = 1;      // what the program says that it is worth
};

struct Trace {
  std::string name;
  std::vector<Reference> references;
};

using Random = std::mt19937_64;

/// In [0, 1), with the same numbers from every standard library.
inline double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// What an entry of so many bytes takes in the storage: what capacities and bounds are counted in.
inline std::size_t footprint(std::uint32_t bytes) {
  return wherry::cache::Storage::footprint(bytes + wherry::cache::Entry::head);
}

/// Independent references, key k with a probability of k^-skew; sizes from 8 bytes to 32 KiB that have nothing
/// to do with it, log-uniform. Every `shift` references (0: never) a tenth of the keys change places.
inline Trace zipf(std::string name, std::size_t keys, double skew, std::size_t length, std::size_t shift,
                  unsigned seed) {
  Random random(seed);
  std::vector<double> cumulated;
  for (std::size_t k = 1; k <= keys; ++k)
    cumulated.push_back((k == 1 ? 0 : cumulated.back()) + std::pow(static_cast<double>(k), -skew));
  std::vector<std::uint32_t> bytes, order(keys);
  for (std::size_t k = 0; k < keys; ++k)
    bytes.push_back(static_cast<std::uint32_t>(8 * std::exp2(12 * uniform(random))));
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Reference> references;
  for (std::size_t i = 0; i < length; ++i) {
    if (shift != 0 && i % shift == shift - 1)
      for (std::size_t n = 0; n < keys / 10; ++n) std::swap(order[random() % keys], order[random() % keys]);
    const auto at = std::upper_bound(cumulated.begin(), cumulated.end(), uniform(random) * cumulated.back());
    const std::uint32_t key = order[std::min(static_cast<std::size_t>(at - cumulated.begin()), keys - 1)];
    references.push_back({key, bytes[key]});
  }
  return {std::move(name), std::move(references)};
}

/// Independent references whose keys are normally distributed about the middle one, with a deviation of a sixth of the
/// keys; sizes as in zipf().
inline Trace normal(std::string name, std::size_t keys, std::size_t length, unsigned seed) {
  Random random(seed);
  std::vector<std::uint32_t> bytes;
  for (std::size_t k = 0; k < keys; ++k)
    bytes.push_back(static_cast<std::uint32_t>(8 * std::exp2(12 * uniform(random))));
  std::vector<Reference> references;
  for (std::size_t i = 0; i < length; ++i) {
    double sum = 0;  // of 12 numbers: about normal, with mean 6 and variance 1
    for (int n = 0; n < 12; ++n) sum += uniform(random);
    const double at = (0.5 + (sum - 6) / 6) * static_cast<double>(keys);
    const auto key = static_cast<std::uint32_t>(std::clamp(at, 0.0, static_cast<double>(keys - 1)));
    references.push_back({key, bytes[key]});
  }
  return {std::move(name), std::move(references)};
}

/// The gets of rank 0 of 2 that counts triangles on an R-MAT graph (D. Chakrabarti and others, SDM 2004;
/// probabilities 0.57, 0.19, 0.19, 0.05): for each of its vertices the adjacency list of each neighbor that
/// rank 1 owns. scored: the program says that lists are worth as much as they are long.
enum class Scores { none, length };
inline Trace clustering(std::string name, int scale, int edges_per_vertex, unsigned seed,
                        Scores scores = Scores::none) {
  Random random(seed);
  const std::uint32_t vertices = 1u << scale;
  std::vector<std::set<std::uint32_t>> neighbors(vertices);
  for (std::uint32_t edge = 0; edge < vertices * static_cast<std::uint32_t>(edges_per_vertex); ++edge) {
    std::uint32_t from = 0, to = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const double draw = uniform(random);
      from = 2 * from + (draw >= 0.76 ? 1 : 0);
      to = 2 * to + ((draw >= 0.57 && draw < 0.76) || draw >= 0.95 ? 1 : 0);
    }
    if (from == to) continue;
    neighbors[from].insert(to);
    neighbors[to].insert(from);
  }
  std::vector<Reference> references;
  for (std::uint32_t mine = 0; mine < vertices / 2; ++mine)
    for (const std::uint32_t other : neighbors[mine])
      if (other >= vertices / 2) {
        const auto length = static_cast<std::uint32_t>(neighbors[other].size());
        references.push_back({other, 4 * length, scores == Scores::length ? static_cast<float>(length) : 1});
      }
  return {std::move(name), std::move(references)};
}

/// Over and over the same keys, in the same order: what LRU cannot serve at all.
inline Trace loop(std::string name, std::uint32_t keys, std::size_t length, std::uint32_t bytes = 200) {
  std::vector<Reference> references;
  for (std::size_t i = 0; i < length; ++i)
    references.push_back({static_cast<std::uint32_t>(i % keys), bytes});
  return {std::move(name), std::move(references)};
}

/// Footprints of all that is ever asked for.
inline std::size_t working_set(const Trace& trace) {
  std::set<std::uint32_t> seen;
  std::size_t bytes = 0;
  for (const Reference& each : trace.references)
    if (seen.insert(each.key).second) bytes += footprint(each.bytes);
  return bytes;
}

}  // namespace replay
