#include "choose/misspelt.hpp"

#include <algorithm>
#include <string_view>

#include "base/nearest.hpp"
#include "choose/way.hpp"
#include "plan/segments/collectives.hpp"

namespace wherry::choose {
namespace {

std::vector<std::string_view> known_to(Collective collective) {
  std::vector<std::string_view> names = {"auto", "native"};
  for (const Way& way : ways_of(plan::segment_operation(collective))) names.push_back(way.name());
  return names;
}

}  // namespace

std::vector<std::string> misspelt(const Strategies& asked) {
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < collectives; ++i) {
    const std::vector<std::string_view> known = known_to(static_cast<Collective>(i));
    if (std::ranges::find(known, asked[i]) != known.end()) continue;
    problems.push_back(std::string(collective_names[i].variable) + ": unknown strategy '" + asked[i] +
                       "', so the library's own collective runs instead" + did_you_mean(asked[i], known));
  }
  return problems;
}

}  // namespace wherry::choose
