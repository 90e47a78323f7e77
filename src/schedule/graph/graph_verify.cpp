#include "schedule/graph/graph_verify.hpp"

#include <string>

#include "base/error.hpp"
#include "schedule/blocks/block_verify.hpp"

namespace wherry::schedule {

void verify(const Routed& routed, const Graph& graph) {
  const std::vector<Schedule> all = routed.schedules();
  verify(all, [&graph](Block block) { return graph.has(block); });
  for (const Schedule& s : all)
    if (s.slots > routed.most_slots())
      throw schedule_error("rank " + std::to_string(s.rank) + " uses " + std::to_string(s.slots) +
                           " slots, of at most " + std::to_string(routed.most_slots()));
}

}  // namespace wherry::schedule
