// What the cost model expects of a segment strategy, as JSON: the same words as `wherry-plan explain` has for all-to-alls.
#pragma once

#include <iostream>
#include <sstream>
#include <string>

#include "base/json_writer.hpp"
#include "plan/segments/cost.hpp"
#include "simulated/calls.hpp"

namespace simulated {

inline void write_cost(wherry::JsonWriter& json, const wherry::plan::SegmentStrategy& s,
                       const wherry::plan::Shape& shape, long long bytes) {
  const wherry::plan::Machine machine;
  const int depth = wherry::plan::best_depth(s, shape, 0, bytes, machine);
  const wherry::plan::Cost c = wherry::plan::cost(s, shape, {.depth = depth}, bytes, machine);
  json.object([&] {
    json.member("name", s.name);
    json.member("seconds", c.seconds);
    json.member("messages", c.messages);
    json.member("messages_between", c.messages_between);
    json.member("bytes", c.bytes);
    json.member("bytes_between", c.bytes_between);
    json.member("copied_bytes", c.copied_bytes);
  });
}

/// On one line: that is how the simulator's answers are found in its output.
inline void print_model(const Subject& what, const wherry::plan::Shape& shape, int block) {
  const auto strategies = wherry::plan::segment_strategies(what.operation.value());
  const long long bytes = buffer_bytes(what, shape.size(), block);
  std::ostringstream text;
  wherry::JsonWriter json(text);
  json.object([&] {
    json.member("candidates", [&] {
      json.array([&] {
        for (const auto& s : strategies)
          if (s.applies(shape)) write_cost(json, s, shape, bytes);
      });
    });
    json.member("not_applicable", [&] {
      json.array([&] {
        for (const auto& s : strategies)
          if (!s.applies(shape))
            json.object([&] {
              json.member("name", s.name);
              json.member("why", "needs " + std::string(s.needs));
            });
      });
    });
  });
  std::string line = text.str();
  std::erase(line, '\n');
  std::cout << line << std::endl;
}

}  // namespace simulated
