// wherry-plan: answers questions about schedules, as JSON on stdout. It needs no MPI.
//
// Exit codes: 0 answered; 1 a schedule is invalid, or the answer could not be written; 2 wrong usage.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/nearest.hpp"
#include "plan/cost.hpp"
#include "plan/render.hpp"
#include "plan/strategy.hpp"
#include "plan/verify.hpp"
#include "tools/options.hpp"

namespace wherry::tools {
namespace {

using plan::Shape;
using plan::Strategy;

using Words = std::span<const std::string>;

constexpr const char* usage = R"(usage: wherry-plan COMMAND ...
  strategies                                        all strategies
  explain [--op alltoall] -n RANKS [PLACE] -m BYTES what each would cost, cheapest first
  draw STRATEGY -n RANKS [PLACE] [--format FORMAT]  a picture, FORMAT svg (default) or text
  schedule STRATEGY -n RANKS [PLACE] --rank RANK    what one rank does
  verify [--max RANKS] [--strategy STRATEGY]        proves schedules for 1 to RANKS (default 128) ranks
PLACE: --nodes K     consecutive ranks on K nodes, as even as possible
       --node-of L   rank r on the r-th node of the list, such as 0,0,1,1
       neither       every rank on a node of its own
)";

constexpr int most_ranks = 16384;
constexpr long long most_bytes = 1LL << 31;  // keeps all products within 64 bits

// ---- What was asked for

const Strategy& strategy_named(const std::string& name) {
  if (const Strategy* s = plan::find_strategy(name)) return *s;
  std::vector<std::string_view> known;
  std::string have;
  for (const Strategy& s : plan::strategies()) {
    known.push_back(s.name);
    (have += have.empty() ? "" : ", ") += s.name;
  }
  throw usage_error("unknown strategy '" + name + "' (have: " + have + ")" + did_you_mean(name, known));
}

std::string plural(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

Shape listed(const std::string& list, int ranks) {
  std::vector<int> node_of;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    node_of.push_back(
        static_cast<int>(parse_number("--node-of: node", list.substr(at, comma - at), 0, INT32_MAX)));
    at = comma + 1;
  }
  if (static_cast<int>(node_of.size()) != ranks)
    throw usage_error("--node-of places " + plural(static_cast<int>(node_of.size()), "rank") + " of " +
                      std::to_string(ranks) + "; list one node per rank");
  return Shape::placed(node_of);
}

Shape shape_of(const Options& options) {
  const int ranks = static_cast<int>(options.number("-n", 1, most_ranks, {}));
  if (options.has("--nodes") && options.has("--node-of"))
    throw usage_error("--nodes and --node-of exclude each other; give one");
  if (const auto list = options.text("--node-of")) return listed(*list, ranks);
  return Shape::spread(ranks, static_cast<int>(options.number("--nodes", 1, ranks, ranks)));
}

/// The strategy that the only positional word names, on the shape that the options give.
const Strategy& applicable(const Options& options, const Shape& shape) {
  if (options.positionals().empty()) throw usage_error("no strategy named; see `wherry-plan strategies`");
  const Strategy& s = strategy_named(options.positionals().front());
  if (!s.applies(shape))
    throw usage_error(std::string(s.name) + " does not apply to " + plural(shape.size(), "rank") + " on " +
                      plural(shape.nodes(), "node") + "; it needs " + std::string(s.needs) +
                      " (see -n, --nodes, --node-of)");
  return s;
}

// ---- Commands

int list_strategies(Words words) {
  Options(words, {}, 0);
  JsonWriter json(std::cout);
  json.array([&] {
    for (const Strategy& s : plan::strategies())
      json.object([&] {
        json.member("name", s.name);
        json.member("summary", s.summary);
        json.member("hops", s.hops == plan::Hops::single ? "single" : "several");
        json.member("needs", s.needs);
      });
  });
  return 0;
}

struct Candidate {
  const Strategy* strategy;
  plan::Cost cost;
};

std::vector<Candidate> candidates_for(const Shape& shape, long long block_bytes) {
  std::vector<Candidate> candidates;
  for (const Strategy& s : plan::strategies())
    if (s.applies(shape)) candidates.push_back({&s, plan::cost(s, shape, block_bytes, plan::Machine{})});
  // Equal costs in the registry's order.
  std::ranges::sort(candidates, {}, [](const Candidate& c) { return std::pair(c.cost.seconds, c.strategy); });
  return candidates;
}

void write_candidate(JsonWriter& json, const Candidate& c) {
  json.object([&] {
    json.member("name", c.strategy->name);
    json.member("summary", c.strategy->summary);
    json.member("seconds", c.cost.seconds);
    json.member("messages", c.cost.messages);
    json.member("messages_between", c.cost.messages_between);
    json.member("bytes", c.cost.bytes);
    json.member("bytes_between", c.cost.bytes_between);
    json.member("copied_bytes", c.cost.copied_bytes);
    json.member("staging_bytes", c.cost.staging_bytes);
    json.member("phases", c.cost.phases);
  });
}

int explain(Words words) {
  const Options options(words, {"--op", "-n", "--nodes", "--node-of", "-m"}, 0);
  const std::vector<std::string_view> operations = {"alltoall", "alltoallv", "alltoallw"};
  const std::string operation = options.text("--op").value_or("alltoall");
  if (std::ranges::find(operations, operation) == operations.end())
    throw usage_error("unknown operation '" + operation + "' (have: alltoall, alltoallv, alltoallw)" +
                      did_you_mean(operation, operations));
  const Shape shape = shape_of(options);
  const long long block_bytes = options.number("-m", 0, most_bytes, {});
  const std::vector<Candidate> candidates = candidates_for(shape, block_bytes);

  JsonWriter json(std::cout);
  json.object([&] {
    json.member("op", operation);
    json.member("ranks", shape.size());
    json.member("nodes", shape.nodes());
    json.member("block_bytes", block_bytes);
    json.member("node_sizes", [&] {
      json.array([&] {
        for (int node = 0; node < shape.nodes(); ++node) json.value(shape.members(node).size());
      });
    });
    json.member("candidates", [&] {
      json.array([&] {
        for (const Candidate& c : candidates) write_candidate(json, c);
      });
    });
    json.member("not_applicable", [&] {
      json.array([&] {
        for (const Strategy& s : plan::strategies())
          if (!s.applies(shape))
            json.object([&] {
              json.member("name", s.name);
              json.member("why", "needs " + std::string(s.needs));
            });
      });
    });
  });
  return 0;
}

int draw(Words words) {
  const Options options(words, {"-n", "--nodes", "--node-of", "--format"}, 1);
  const std::string format = options.text("--format").value_or("svg");
  if (format != "svg" && format != "text")
    throw usage_error("unknown format '" + format + "' (have: svg, text); give one of them");
  const Shape shape = shape_of(options);
  const Strategy& s = applicable(options, shape);
  if (shape.size() > plan::most_drawn)
    throw usage_error("-n " + std::to_string(shape.size()) +
                      " is more than a picture can show; draw at most " + std::to_string(plan::most_drawn) +
                      " ranks");
  const std::string title = std::string(s.name) + " on " + plural(shape.size(), "rank") +
                            (shape.nodes() < shape.size() ? ", " + plural(shape.nodes(), "node") : "");
  const plan::Caption caption{title, s.summary};
  std::cout << (format == "svg" ? plan::render_svg : plan::render_text)(caption, shape,
                                                                        plan::schedules(s, shape));
  return 0;
}

void write_messages(JsonWriter& json, const plan::Schedule& s, std::span<const plan::Message> messages) {
  json.array([&] {
    for (const plan::Message& m : messages)
      json.object([&] {
        json.member("peer", m.peer);
        json.member("slot", m.slot);
        json.member("items", [&] {
          json.array([&] {
            for (const plan::Item& item : s.items_of(m))
              json.object([&] {
                json.member("origin", item.block.origin);
                json.member("destination", item.block.destination);
                json.member("slot", item.slot);
              });
          });
        });
      });
  });
}

int show_schedule(Words words) {
  const Options options(words, {"-n", "--nodes", "--node-of", "--rank"}, 1);
  const Shape shape = shape_of(options);
  const Strategy& strategy = applicable(options, shape);
  const plan::Schedule s =
      strategy.schedule(shape, static_cast<int>(options.number("--rank", 0, shape.size() - 1, {})));
  JsonWriter json(std::cout);
  json.object([&] {
    json.member("strategy", strategy.name);
    json.member("size", s.size);
    json.member("rank", s.rank);
    json.member("slots", s.slots);
    json.member("phases", [&] {
      json.array([&] {
        for (const plan::Phase& p : s.phases)
          json.object([&] {
            json.member("window", p.window);
            json.member("receives", [&] { write_messages(json, s, s.receives_of(p)); });
            json.member("sends", [&] { write_messages(json, s, s.sends_of(p)); });
          });
      });
    });
  });
  return 0;
}

// ---- verify

struct Failure {
  std::string_view strategy;
  int ranks;
  std::string placement;
  std::string what;
};

std::string placement_list(const Shape& shape) {
  std::string list;
  for (int rank = 0; rank < shape.size(); ++rank)
    (list += rank == 0 ? "" : ",") += std::to_string(shape.node_of(rank));
  return list;
}

/// Strategies that work on the flat placement do not look at nodes (a unit test holds them to it): once
/// is enough.
std::vector<Shape> placements_for(const Strategy& s, int ranks) {
  std::vector<Shape> shapes = plan::trial_placements(ranks);
  if (s.applies(shapes.front())) return {shapes.front()};
  std::erase_if(shapes, [&](const Shape& shape) { return !s.applies(shape); });
  return shapes;
}

/// Verifies one strategy on one shape; what is wrong, or nothing.
std::string problem_with(const Strategy& s, const Shape& shape) {
  try {
    const std::vector<plan::Schedule> all = plan::schedules(s, shape);
    plan::verify(all);
    const int most = s.most_slots(shape);
    for (const plan::Schedule& schedule : all)
      if (schedule.slots > most)
        return "rank " + std::to_string(schedule.rank) + " uses " + std::to_string(schedule.slots) +
               " slots, of at most " + std::to_string(most);
    return {};
  } catch (const schedule_error& error) {
    return error.what();
  }
}

int verify_all(Words words) {
  const Options options(words, {"--max", "--strategy"}, 0);
  const int max = static_cast<int>(options.number("--max", 1, 1024, 128));
  std::vector<const Strategy*> chosen;
  if (const auto name = options.text("--strategy")) chosen.push_back(&strategy_named(*name));
  else
    for (const Strategy& s : plan::strategies()) chosen.push_back(&s);

  const auto start = std::chrono::steady_clock::now();
  const bool progress = isatty(STDERR_FILENO) != 0;
  long long schedules = 0;
  std::vector<Failure> failures;
  for (const Strategy* s : chosen) {
    if (progress) std::cerr << "\r\033[K" << s->name << std::flush;
    for (int ranks = 1; ranks <= max; ++ranks)
      for (const Shape& shape : placements_for(*s, ranks)) {
        schedules += ranks;
        if (const std::string what = problem_with(*s, shape); !what.empty())
          failures.push_back({s->name, ranks, placement_list(shape), what});
      }
  }
  if (progress) std::cerr << "\r\033[K";

  JsonWriter json(std::cout);
  json.object([&] {
    json.member("schedules", schedules);
    json.member("strategies", chosen.size());
    json.member("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    json.member("failures", [&] {
      json.array([&] {
        for (const Failure& f : failures)
          json.object([&] {
            json.member("strategy", f.strategy);
            json.member("ranks", f.ranks);
            json.member("node_of", f.placement);
            json.member("what", f.what);
          });
      });
    });
  });
  return failures.empty() ? 0 : 1;
}

struct Command {
  std::string_view name;
  int (*run)(Words);
};

constexpr Command commands[] = {{"strategies", list_strategies},
                                {"explain", explain},
                                {"draw", draw},
                                {"schedule", show_schedule},
                                {"verify", verify_all}};

int run(Words words) {
  if (words.empty()) throw usage_error("no command given; see `wherry-plan --help`");
  if (words[0] == "--help" || words[0] == "-h") {
    std::cout << usage;
    return 0;
  }
  std::vector<std::string_view> known;
  for (const Command& c : commands) {
    if (c.name == words[0]) return c.run(words.subspan(1));
    known.push_back(c.name);
  }
  throw usage_error("unknown command '" + words[0] + "'" + did_you_mean(words[0], known) +
                    " (see `wherry-plan --help`)");
}

int guarded(Words words) {
  try {
    const int code = run(words);
    std::cout.flush();
    if (std::cout) return code;
    std::cerr << "wherry-plan: cannot write to standard output; is its disk full or its reader gone?\n";
    return 1;
  } catch (const usage_error& error) {
    std::cerr << "wherry-plan: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "wherry-plan: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace wherry::tools

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  return wherry::tools::guarded(words);
}
