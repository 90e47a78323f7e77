// One rank more costs little more: what the best strategy is expected to take grows hardly faster than what any must.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "tuning/candidates.hpp"

using namespace wherry;
using namespace wherry::tuning;

namespace {

/// The all-to-alls stand for no operation of the segments' registry.
using Operation = std::optional<schedule::Operation>;

constexpr Operation all_operations[] = {
    std::nullopt,
    schedule::Operation::allgather,
    schedule::Operation::bcast,
    schedule::Operation::gather,
    schedule::Operation::scatter,
    schedule::Operation::reduce,
    schedule::Operation::allreduce,
    schedule::Operation::reduce_scatter,
    schedule::Operation::barrier,
};

/// Expected by the strategy that is best for blocks of so many bytes.
double best_time(const std::vector<AlgorithmCandidate>& candidates, int ranks, long long bytes) {
  double best = std::numeric_limits<double>::infinity();
  for (const Estimate& p : estimates(candidates, {ranks, bytes}, model::Machine{}))
    best = std::min(best, p.cost.seconds);
  return best;
}

/// Whether the data of a rank that has most grows with the ranks.
bool has_block_per_rank(Operation operation) {
  using enum schedule::Operation;
  return !operation || operation == allgather || operation == gather || operation == scatter ||
         operation == reduce_scatter;
}

/// From `ranks` to one more, at least: messages one after the other to hear from all, and bytes of all blocks but one's
/// own.
double growth_of_bounds(Operation operation, int ranks) {
  const double steps = static_cast<double>(schedule::ceil_log2(ranks + 1)) / schedule::ceil_log2(ranks);
  const double bytes = has_block_per_rank(operation) ? static_cast<double>(ranks) / (ranks - 1) : 1;
  return std::max(steps, bytes);
}

/// A mesh has whole rows: with a rank more small reductions take one message more, of three or four; so do flat trees.
double most_for(Operation operation) {
  const bool by_mesh =
      operation && (schedule::reduces(*operation) || *operation == schedule::Operation::bcast);
  return by_mesh ? 1.45 : 1.3;
}

}  // namespace

TEST_CASE("no cliff between numbers of ranks") {
  constexpr int last = 32;
  for (const Operation operation : all_operations)
    for (const bool one_node : {false, true}) {
      std::vector<std::vector<AlgorithmCandidate>> candidates;
      for (int ranks = 2; ranks <= last + 1; ++ranks)
        candidates.push_back(
            survey(one_node ? topology::Placement::blocked(ranks, ranks) : topology::Placement::flat(ranks),
                   operation));
      for (const long long bytes : {8LL, 1024LL, 65536LL, 1LL << 20})
        for (int ranks = 2; ranks <= last; ++ranks) {
          const auto time = [&](int n) {
            return best_time(candidates[static_cast<std::size_t>(n - 2)], n, bytes);
          };
          INFO("operation ", operation ? std::string(schedule::name(*operation)) : "alltoall", ", ", bytes,
               " B, one node: ", one_node, ", ranks ", ranks, " and one more");
          CHECK(time(ranks + 1) / time(ranks) <= most_for(operation) * growth_of_bounds(operation, ranks));
        }
    }
}
