#include "schedule/graph/trial_graphs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/splitmix.hpp"
#include "schedule/graph/graph.hpp"

namespace wherry::schedule {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// From 0 to below - 1.
  int below(int below) { return static_cast<int>(next() % static_cast<std::uint64_t>(below)); }

 private:
  std::uint64_t next() { return splitmix_output(state_ += splitmix_step); }

  std::uint64_t state_;
};

/// All vectors of steps from -reach to reach but zero, the last dimension fastest.
std::vector<std::vector<int>> all_steps(std::size_t dimensions, int reach) {
  std::vector<std::vector<int>> all = {{}};
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& steps : all)
      for (int step = -reach; step <= reach; ++step) {
        longer.push_back(steps);
        longer.back().push_back(step);
      }
    all = std::move(longer);
  }
  std::erase(all, std::vector<int>(dimensions, 0));
  return all;
}

Targets made(int size, const std::function<std::vector<int>(int rank)>& targets_of) {
  Targets targets;
  for (int rank = 0; rank < size; ++rank) targets.push_back(targets_of(rank));
  return targets;
}

std::vector<int> everybody(int size) {
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The most even grid of so many dimensions; extents may be 1.
Torus even_torus(int size, int dimensions, bool periodic) {
  Torus torus{.extents = {}, .periodic = periodic};
  for (int left = dimensions; left > 0; --left) {
    int extent = size;
    while (left > 1 && extent > 1) {
      int power = 1;
      for (int d = 0; d < left; ++d) power *= extent;
      if (size % extent == 0 && power <= size) break;
      --extent;
    }
    torus.extents.push_back(extent);
    size /= extent;
  }
  return torus;
}

}  // namespace

int Torus::size() const { return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()); }

std::vector<int> Torus::coordinates(int rank) const {
  std::vector<int> at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; rank /= extents[d]) at[d] = rank % extents[d];
  return at;
}

int Torus::neighbor(int rank, const std::vector<int>& steps) const {
  const std::vector<int> at = coordinates(rank);
  int there = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const int extent = extents[d], to = at[d] + steps[d];
    if (!periodic && (to < 0 || to >= extent)) return nobody;
    there = there * extent + (to % extent + extent) % extent;
  }
  return there;
}

Targets stencil(const Torus& torus, int reach) {
  return made(torus.size(), [&](int rank) {
    std::vector<int> targets;
    for (const std::vector<int>& steps : all_steps(torus.extents.size(), reach))
      if (const int to = torus.neighbor(rank, steps); to != nobody) targets.push_back(to);
    return targets;
  });
}

Targets random_targets(int size, int degree, std::uint64_t seed) {
  Random random(seed);
  return made(size, [&](int) {
    constexpr int silent = 5;  // one rank of so many sends nothing
    std::vector<int> targets;
    if (random.below(silent) == 0) return targets;
    for (int edges = random.below(2 * degree + 1); edges > 0; --edges) targets.push_back(random.below(size));
    return targets;
  });
}

std::vector<TrialGraph> trial_graphs(int size, std::uint64_t seed) {
  std::vector<TrialGraph> all = {
      {"no edges", made(size, [](int) { return std::vector<int>{}; })},
      {"ring", made(size, [=](int rank) { return std::vector{(rank + 1) % size}; })},
      {"everybody", made(size, [=](int) { return everybody(size); })},
      {"all to one", made(size, [=](int) { return std::vector{size / 2}; })},
  };
  for (const int dimensions : {2, 3})
    for (const bool periodic : {true, false})
      all.push_back(
          {std::to_string(dimensions) + "-dimensional stencil, " + (periodic ? "periodic" : "with borders"),
           stencil(even_torus(size, dimensions, periodic))});
  for (const int degree : {2, 7})
    all.push_back({"random, " + std::to_string(degree) + " edges per rank, seed " + std::to_string(seed),
                   random_targets(size, degree, seed)});
  return all;
}

}  // namespace wherry::schedule
