#include "run/sparse/strategies.hpp"

#include <algorithm>

#include "base/floating_point.hpp"
#include "plan/cost.hpp"
#include "run/sparse/census.hpp"
#include "run/sparse/nbx.hpp"

namespace wherry::run {

namespace {

constexpr SparseStrategy table[] = {
    {"nbx", "straight, synchronously; a non-blocking barrier tells when all have been taken", nbx},
    {"census", "a reduction tells each rank how many come; then straight", census},
};

/// The cheapest for messages that carry hardly anything: large ones travel by themselves, whatever combines the small.
const plan::Strategy* cheapest(const plan::Shape& shape) {
  const OwnArithmetic arithmetic;
  const plan::Strategy* best = nullptr;
  double least_s = 0;
  for (const plan::Strategy& s : plan::strategies()) {
    if (!s.applies(shape)) continue;
    const double seconds = plan::cost(s, shape, 0, plan::Machine{}).seconds;
    if (best != nullptr && seconds >= least_s) continue;
    best = &s;
    least_s = seconds;
  }
  return best;
}

}  // namespace

std::string_view SparseWay::name() const {
  if (straight != nullptr) return straight->name;
  return combining != nullptr ? combining->name : "native";
}

std::vector<std::string_view> sparse_way_names() {
  std::vector<std::string_view> names = {"auto", "native"};
  for (const SparseStrategy& s : table) names.push_back(s.name);
  for (const plan::Strategy& s : plan::strategies()) names.push_back(s.name);
  return names;
}

SparseWay sparse_way(std::string_view asked, const plan::Shape& shape) {
  if (asked == "auto") return {.combining = cheapest(shape)};
  if (const auto* found = std::ranges::find(table, asked, &SparseStrategy::name); found != std::end(table))
    return {.straight = found};
  const plan::Strategy* const combining = plan::find_strategy(asked);
  return {.combining = combining != nullptr && combining->applies(shape) ? combining : nullptr};
}

}  // namespace wherry::run
