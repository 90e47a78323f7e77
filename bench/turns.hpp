// Calls that are compared in one process, in turns: whatever disturbs the machine disturbs them alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

struct Variant {
  std::string name;
  std::function<void()> call;
  std::function<void()> choose = [] {};  // what to run, before a burst of calls
};

/// All variants in turns of bursts of calls; rank 0 prints their samples. Collective over MPI_COMM_WORLD.
inline void compare(const std::string& name, const std::vector<Variant>& variants, int turns) {
  std::vector<int> bursts;
  for (const Variant& v : variants) {
    v.choose();
    bursts.push_back(calls_per_burst(MPI_COMM_WORLD, v.call));
  }
  std::vector<std::vector<double>> samples(variants.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      variants[i].choose();
      variants[i].call();  // not timed: the first call after a change pays for the change
      samples[i].push_back(time_calls(MPI_COMM_WORLD, bursts[i], variants[i].call));
    }
  if (rank_of(MPI_COMM_WORLD) != 0) return;
  for (std::size_t i = 0; i < variants.size(); ++i) print(name, variants[i].name, samples[i]);
}

}  // namespace bench
