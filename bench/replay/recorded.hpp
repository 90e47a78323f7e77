// Traces that an application has written: a get a line, as target, displacement, bytes and score.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "replay/traces.hpp"

namespace replay {

/// A get's key is where its range begins; ranges of one beginning are of one size. Throws usage_error with file and
/// line.
inline Trace recorded(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw wherry::usage_error("cannot read the trace '" + path + "'; name a file that lcc --trace wrote");
  Trace trace{path.substr(path.find_last_of('/') + 1), {}};
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> keys;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text);
    std::uint64_t target = 0, displacement = 0, bytes = 0;
    float score = 1;
    if (!(words >> target >> displacement >> bytes >> score) || bytes == 0 || bytes > 1 << 20)
      throw wherry::usage_error(path + ", line " + std::to_string(line) +
                                " is no get; write: target displacement bytes score, with at most 1 MiB");
    const auto key =
        keys.try_emplace({target, displacement}, static_cast<std::uint32_t>(keys.size())).first->second;
    trace.references.push_back({key, static_cast<std::uint32_t>(bytes), score});
  }
  if (trace.references.empty())
    throw wherry::usage_error("the trace '" + path + "' holds no gets; record it again");
  return trace;
}

}  // namespace replay
