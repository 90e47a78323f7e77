// wherry-plan strategies: every row of the registries.
#include <algorithm>
#include <iostream>

#include "base/json_writer.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

/// The first of those that have the same strategies speaks for all.
bool is_first_of_its_kind(const NamedCollective& operation) {
  const auto is_like = [&](const NamedCollective& other) { return other.is_like(operation); };
  return &*std::ranges::find_if(operations(), is_like) == &operation;
}

void write_operations(JsonWriter& json, const NamedCollective& like) {
  json.array([&] {
    for (const NamedCollective& operation : operations())
      if (operation.is_like(like)) json.value(operation.name);
  });
}

void write(JsonWriter& json, const NamedCollective& operation, const schedule::Algorithm& algorithm) {
  json.object([&] {
    json.member("name", algorithm.name());
    json.member("operations", [&] { write_operations(json, operation); });
    json.member("summary", algorithm.summary());
    algorithm.visit(
        [&](const schedule::Strategy& s) {
          json.member("hops", s.hops == schedule::Hops::single ? "single" : "several");
        },
        [&](const schedule::SegmentStrategy& s, int) { json.member("pipelined", is_pipelined(s)); });
    json.member("needs", needs_of(operation, algorithm));
  });
}

}  // namespace

int list_strategies(Words words) {
  CommandLine(words, {}, 0);
  JsonWriter json(std::cout);
  json.array([&] {
    for (const NamedCollective& operation : operations())
      if (is_first_of_its_kind(operation))
        for (const schedule::Algorithm& algorithm : algorithms_of(operation))
          write(json, operation, algorithm);
  });
  return 0;
}

}  // namespace wherry::tools
