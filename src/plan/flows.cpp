#include "plan/flows.hpp"

#include <algorithm>
#include <climits>
#include <map>

#include "plan/pairing.hpp"

namespace wherry::plan {
namespace {

/// Smallest and largest of what was put in.
struct Range {
  int low = INT_MAX;
  int high = INT_MIN;
  void include(int x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  std::string of(const std::string& thing) const {
    const std::string number =
        low == high ? std::to_string(low) : std::to_string(low) + "-" + std::to_string(high);
    return number + " " + thing + (high == 1 ? "" : "s");
  }
};

}  // namespace

std::string Column::messages() const {
  std::map<int, int> sent;
  for (const Flow& f : flows) ++sent[f.from];
  Range range;
  for (const auto& [rank, messages] : sent) range.include(messages);
  return range.of("message") + " per rank";
}

std::string Column::blocks() const {
  Range range;
  for (const Flow& f : flows) range.include(f.blocks);
  return range.of("block") + " each";
}

std::vector<Column> columns_of_flows(std::span<const Schedule> schedules) {
  const std::vector<std::vector<int>> column_of = columns_of_phases(schedules);
  std::vector<Column> columns;
  for (const Schedule& s : schedules) {
    for (std::size_t p = 0; p < s.phases.size(); ++p) {
      const int column = column_of[static_cast<std::size_t>(s.rank)][p];
      if (columns.size() <= static_cast<std::size_t>(column))
        columns.resize(static_cast<std::size_t>(column) + 1);
      Column& c = columns[static_cast<std::size_t>(column)];
      c.window = s.phases[p].window;
      for (const Message& m : s.sends_of(s.phases[p])) c.flows.push_back({column, s.rank, m.peer, m.count});
    }
  }
  return columns;
}

}  // namespace wherry::plan
