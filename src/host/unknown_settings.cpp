#include "host/unknown_settings.hpp"

#include <algorithm>
#include <string_view>

#include "base/nearest.hpp"
#include "sparse/sparse_strategies.hpp"
#include "tuning/unknown_strategies.hpp"

namespace wherry::run {

std::vector<std::string> unknown_settings(const Settings& settings) {
  std::vector<std::string> problems = tuning::unknown_strategies(settings.strategies);
  const std::vector<std::string_view> known = sparse_strategy_names();
  if (const std::string& asked = settings.sparse_exchange; std::ranges::find(known, asked) == known.end())
    problems.push_back("WHERRY_SPARSE_EXCHANGE='" + asked.substr(0, 60) +
                       "' names no strategy; sparse exchanges fall back to native collectives" +
                       did_you_mean(asked, known));
  return problems;
}

}  // namespace wherry::run
