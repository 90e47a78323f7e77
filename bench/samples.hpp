// Samples as JSON lines, which python/wherry/measure/harness.py reads.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/json_writer.hpp"

namespace bench {

inline void print(const std::string& name, const std::string& variant, const std::vector<double>& samples) {
  std::printf("{\"case\": %s, \"variant\": %s, \"unit\": \"s\", \"samples\": [",
              wherry::json_string(name).c_str(), wherry::json_string(variant).c_str());
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : ", ", samples[i]);
  std::printf("]}\n");
}

/// A variant that could not be measured, and why.
inline void print_excluded(const std::string& name, const std::string& variant, const std::string& why) {
  std::printf("{\"case\": %s, \"variant\": %s, \"excluded\": %s}\n", wherry::json_string(name).c_str(),
              wherry::json_string(variant).c_str(), wherry::json_string(why).c_str());
}

}  // namespace bench
