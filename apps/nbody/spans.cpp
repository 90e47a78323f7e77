#include "nbody/spans.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "support/json.hpp"

namespace nbody {
namespace {

bool is_collective(Doing doing) { return doing == Doing::gather || doing == Doing::reduce; }

/// A collective by kind, group and number; counts as it meets them.
class Numbering {
 public:
  using Key = std::tuple<Doing, int, int>;
  Key next(const Span& span) { return {span.doing, span.group, seen_[{span.doing, span.group}]++}; }

 private:
  std::map<std::pair<Doing, int>, int> seen_;
};

std::map<Numbering::Key, double> last_arrivals(const std::vector<Spans>& ranks) {
  std::map<Numbering::Key, double> last_s;
  for (const Spans& spans : ranks) {
    Numbering numbering;
    for (const Span& span : spans) {
      if (!is_collective(span.doing)) continue;
      double& last = last_s.try_emplace(numbering.next(span), span.begin_s).first->second;
      last = std::max(last, span.begin_s);
    }
  }
  return last_s;
}

/// As `wherry trace` tells them apart.
const char* kind_of(Doing doing) {
  return doing == Doing::compute || doing == Doing::wait ? name_of(doing) : "mpi";
}

std::string event(std::size_t rank, const Span& span) {
  constexpr double us = 1e6;
  char text[200];
  std::snprintf(
      text, sizeof text,
      "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, \"pid\": %zu, "
      "\"tid\": 0}",
      name_of(span.doing), kind_of(span.doing), us * span.begin_s, us * (span.end_s - span.begin_s), rank);
  return text;
}

std::string process_name(std::size_t rank) {
  const std::string number = std::to_string(rank);
  return R"({"name": "process_name", "ph": "M", "pid": )" + number +
         R"(, "tid": 0, "args": {"name": "rank )" + number + "\"}}";
}

}  // namespace

const char* name_of(Doing doing) {
  constexpr std::array<const char*, kinds_of_doing> names = {"compute", "gather", "reduce", "send", "wait"};
  return names[static_cast<std::size_t>(doing)];
}

std::vector<Spans> with_waits(const std::vector<Spans>& ranks) {
  const std::map<Numbering::Key, double> last_s = last_arrivals(ranks);
  std::vector<Spans> all;
  for (const Spans& spans : ranks) {
    Numbering numbering;
    Spans& mine = all.emplace_back();
    for (const Span& span : spans) {
      if (!is_collective(span.doing)) {
        mine.push_back(span);
        continue;
      }
      // A root may leave before the last rank comes.
      const double come_s = std::min(last_s.at(numbering.next(span)), span.end_s);
      if (come_s > span.begin_s) mine.push_back({Doing::wait, span.group, span.begin_s, come_s});
      if (span.end_s > come_s) mine.push_back({span.doing, span.group, come_s, span.end_s});
    }
  }
  return all;
}

std::string chrome_trace(const std::vector<Spans>& ranks, const std::string& title) {
  std::string events;
  const auto add = [&events](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    add(process_name(rank));
    for (const Span& span : ranks[rank]) add(event(rank, span));
  }
  return R"({"displayTimeUnit": "ms", "otherData": {"title": )" + apps::json_string(title) +
         "},\n\"traceEvents\": [\n" + events + "\n]}\n";
}

}  // namespace nbody
