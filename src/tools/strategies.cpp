// wherry-plan strategies: every row of the registries.
#include <algorithm>
#include <iostream>

#include "base/json_writer.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

/// The first of those that have the same strategies speaks for all.
bool is_first_of_its_kind(const Operation& operation) {
  return &*std::ranges::find(operations(), operation.segments, &Operation::segments) == &operation;
}

void write_operations(JsonWriter& json, const Operation& like) {
  json.array([&] {
    for (const Operation& operation : operations())
      if (operation.segments == like.segments) json.value(operation.name);
  });
}

void write(JsonWriter& json, const Operation& operation, const choose::Way& way) {
  json.object([&] {
    json.member("name", way.name());
    json.member("operations", [&] { write_operations(json, operation); });
    json.member("summary", way.summary());
    if (way.exchange != nullptr)
      json.member("hops", way.exchange->hops == plan::Hops::single ? "single" : "several");
    else json.member("pipelined", way.is_pipelined());
    json.member("needs", way.needs());
  });
}

}  // namespace

int list_strategies(Words words) {
  Options(words, {}, 0);
  JsonWriter json(std::cout);
  json.array([&] {
    for (const Operation& operation : operations())
      if (is_first_of_its_kind(operation))
        for (const choose::Way& way : choose::ways_of(operation.segments)) write(json, operation, way);
  });
  return 0;
}

}  // namespace wherry::tools
