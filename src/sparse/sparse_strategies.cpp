#include "sparse/sparse_strategies.hpp"

#include <algorithm>

#include "base/floating_point.hpp"
#include "model/cost.hpp"

namespace wherry::run {

namespace {

constexpr SparseStrategy table[] = {
    {"nbx", "straight, synchronously; a nonblocking barrier tells when all have been taken", nbx},
    {"census", "a reduction tells each rank how many come; then straight", census},
};

/// The cheapest for messages that carry hardly anything: large ones travel by themselves, whatever combines the small.
const schedule::Strategy* cheapest(const topology::Placement& placement) {
  const OwnArithmetic arithmetic;
  const schedule::Strategy* best = nullptr;
  double least_s = 0;
  for (const schedule::Strategy& s : schedule::strategies()) {
    if (!s.applies(placement)) continue;
    const double seconds = model::cost(s, placement, 0, model::Machine{}).seconds;
    if (best != nullptr && seconds >= least_s) continue;
    best = &s;
    least_s = seconds;
  }
  return best;
}

}  // namespace

std::string_view SparseAlgorithm::name() const {
  if (straight != nullptr) return straight->name;
  return combining != nullptr ? combining->name : "native";
}

std::vector<std::string_view> sparse_strategy_names() {
  std::vector<std::string_view> names = {"auto", "native"};
  for (const SparseStrategy& s : table) names.push_back(s.name);
  for (const schedule::Strategy& s : schedule::strategies()) names.push_back(s.name);
  return names;
}

SparseAlgorithm sparse_algorithm(std::string_view asked, const topology::Placement& placement) {
  if (asked == "auto") return {.combining = cheapest(placement)};
  if (const auto* found = std::ranges::find(table, asked, &SparseStrategy::name); found != std::end(table))
    return {.straight = found};
  const schedule::Strategy* const combining = schedule::find_strategy(asked);
  return {.combining = combining != nullptr && combining->applies(placement) ? combining : nullptr};
}

}  // namespace wherry::run
