#include "draw/picture.hpp"

#include <algorithm>
#include <climits>
#include <map>

#include "schedule/pairing.hpp"

namespace wherry::draw {
namespace {

/// Smallest and largest of what was put in.
struct Extremes {
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

std::string messages_in(const Column& column) {
  std::map<int, int> sent;
  for (const Flow& f : column.flows) ++sent[f.from];
  Extremes extremes;
  for (const auto& [rank, messages] : sent) extremes.include(messages);
  return extremes.of("message") + " per rank";
}

std::string carried_in(const Column& column, std::string_view thing) {
  Extremes extremes;
  for (const Flow& f : column.flows) extremes.include(f.carried);
  return extremes.high == 0 ? "empty" : extremes.of(std::string(thing)) + " each";
}

Picture picture_of(std::span<const schedule::Schedule> schedules) {
  const std::vector<std::vector<int>> column_of = schedule::columns_of_phases(schedules);
  Picture picture;
  std::vector<Column>& columns = picture.columns;
  for (const schedule::Schedule& s : schedules) {
    for (std::size_t p = 0; p < s.phases.size(); ++p) {
      const auto column = static_cast<std::size_t>(column_of[static_cast<std::size_t>(s.rank)][p]);
      if (columns.size() <= column) columns.resize(column + 1);
      columns[column].window = s.phases[p].window;
      for (const schedule::Message& m : s.sends_of(s.phases[p]))
        columns[column].flows.push_back({.from = s.rank, .to = m.peer, .carried = m.count, .segments = {}});
    }
  }
  return picture;
}

}  // namespace wherry::draw
