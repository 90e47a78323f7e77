// wherry-plan schedule: what one rank does, phase by phase.
#include <iostream>

#include "base/json_writer.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

using schedule::Schedule;
using schedule::SegmentSchedule;

void write_message(JsonWriter& json, const Schedule& s, const schedule::Message& m) {
  json.member("slot", m.slot);
  json.member("items", [&] {
    json.array([&] {
      for (const schedule::Item& item : s.items_of(m))
        json.object([&] {
          json.member("origin", item.block.origin);
          json.member("destination", item.block.destination);
          json.member("slot", item.slot);
        });
    });
  });
}

std::string_view name_of(schedule::Action action) {
  constexpr std::string_view names[] = {"replace", "combine_before", "combine_after", "hold"};
  return names[static_cast<std::size_t>(action)];
}

void write_message(JsonWriter& json, const SegmentSchedule& s, const schedule::Transfer& t) {
  json.member("action", name_of(t.action));
  json.member("slot", t.slot);
  json.member("ranges", [&] {
    json.array([&] {
      for (const schedule::SegmentRange& range : s.ranges_of(t))
        json.object([&] {
          json.member("first", range.first);
          json.member("count", range.count);
        });
    });
  });
}

template <class AnySchedule, class Messages>
void write_messages(JsonWriter& json, const AnySchedule& s, const Messages& messages) {
  json.array([&] {
    for (const auto& message : messages)
      json.object([&] {
        json.member("peer", message.peer);
        write_message(json, s, message);
      });
  });
}

void write_cut(JsonWriter&, const Schedule&) {}
void write_cut(JsonWriter& json, const SegmentSchedule& s) { json.member("segments", s.segments); }

void write_step(JsonWriter&, const Schedule&, std::size_t) {}
void write_step(JsonWriter& json, const SegmentSchedule& s, std::size_t phase) {
  json.member("step", s.steps[phase]);
}

template <class AnySchedule>
void write(JsonWriter& json, std::string_view strategy, const AnySchedule& s) {
  json.object([&] {
    json.member("strategy", strategy);
    json.member("size", s.size);
    json.member("rank", s.rank);
    write_cut(json, s);
    json.member("slots", s.slots);
    json.member("phases", [&] {
      json.array([&] {
        for (std::size_t p = 0; p < s.phases.size(); ++p)
          json.object([&] {
            write_step(json, s, p);
            json.member("window", s.phases[p].window);
            json.member("receives", [&] { write_messages(json, s, s.receives_of(s.phases[p])); });
            json.member("sends", [&] { write_messages(json, s, s.sends_of(s.phases[p])); });
          });
      });
    });
  });
}

}  // namespace

int show_schedule(Words words) {
  const CommandLine options(
      words, {"-n", "--nodes", "--node-of", "--root", "--depth", "--rank", "--grid", "--reach"}, 2);
  const NamedStrategy asked = named_strategy(options.positionals());
  const std::optional<Stencil> stencil = stencil_of(options, asked.operation);
  const topology::Placement placement = stencil ? stencil->placement : placement_of(options);
  const schedule::Algorithm algorithm = stencil ? asked.algorithm : applicable(asked, options, placement);
  const int root = root_of(options, asked.operation, placement);
  const int rank = static_cast<int>(options.number("--rank", 0, placement.size() - 1, {}));
  JsonWriter json(std::cout);
  if (stencil) write(json, algorithm.name(), routed(*stencil, algorithm).schedule(rank));
  else
    algorithm.visit([&](const schedule::Strategy& s) { write(json, s.name, s.schedule(placement, rank)); },
                    [&](const schedule::SegmentStrategy& s, int depth) {
                      write(json, s.name,
                            schedule::schedule(s, placement, rank, {.root = root, .depth = depth}));
                    });
  return 0;
}

}  // namespace wherry::tools
