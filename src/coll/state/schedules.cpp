#include "coll/state/schedules.hpp"

#include <utility>

#include "schedule/segments/ranges.hpp"

namespace wherry::run {

const Prepared& Schedules::of(const schedule::Strategy& strategy) {
  const auto found = blocks_.find(&strategy);
  if (found != blocks_.end()) return found->second;
  Prepared made;
  made.schedule = strategy.schedule(c_.placement(), c_.rank());
  made.layout = layout_of(made.schedule);
  return blocks_.emplace(&strategy, std::move(made)).first->second;
}

const PreparedSegments& Schedules::of(const schedule::SegmentStrategy& strategy, int depth, int root) {
  const auto [entry, is_new] = segments_.try_emplace({&strategy, depth, root});
  PreparedSegments& made = entry->second;
  if (!is_new) return made;
  made.schedule = schedule::schedule(strategy, c_.placement(), c_.rank(), {.root = root, .depth = depth});
  made.layout = schedule::layout_of(made.schedule);
  made.reach = schedule::reach(made.schedule);
  made.received = schedule::received(made.schedule);
  made.sends_its_own = schedule::sends_its_own(made.schedule);
  return made;
}

}  // namespace wherry::run
