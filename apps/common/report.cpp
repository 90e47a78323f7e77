#include "common/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/columns.hpp"
#include "common/json.hpp"
#include "common/options.hpp"

namespace apps {
namespace {

Words row_of(const Measurement& m) {
  return {m.name,
          m.metric,
          m.message_bytes > 0 ? fixed(m.message_bytes, 0) + " B" : "",
          seconds_text(median(m.plain_s)),
          seconds_text(median(m.wherry_s)),
          std::isfinite(ratio(m)) ? fixed(ratio(m), 2) : "-",
          listed(m.strategies)};
}

/// As in the records of `wherry bench`: one entry per launch, and this is one.
std::string samples(const Measurement& m) {
  return "[{\"launch\": 0, \"native\": " + list(m.plain_s, number) +
         ", \"wherry\": " + list(m.wherry_s, number) + "}]";
}

std::string record(const Machine& machine, const Measurement& m) {
  std::vector<Member> members = {
      {"bench", quoted(machine.application)},
      {"case", quoted(m.name)},
      {"metric", quoted(m.metric)},
      {"unit", quoted("s")},
      {"value", number(median(m.wherry_s))},
      {"baseline", number(median(m.plain_s))},
      {"ratio", number(ratio(m))},
      {"mpi", quoted(machine.mpi)},
      {"ranks", std::to_string(machine.ranks)},
      {"machine", quoted(machine.host)},
      {"version", quoted(machine.wherry)},
      {"statistic", quoted(statistic)},
      {"message_bytes", number(m.message_bytes)},
      {"strategies", list(m.strategies, quoted)},
      {"samples", samples(m)},
  };
  for (const auto& [name, value] : m.figures) members.emplace_back(name, number(value));
  return object(members);
}

}  // namespace

double median(std::span<const double> samples) {
  if (samples.empty()) return std::nan("");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double ratio(const Measurement& measurement) {
  return median(measurement.plain_s) / median(measurement.wherry_s);
}

std::string table(std::span<const Measurement> measurements, const std::string& side) {
  std::vector<Words> rows = {{"case", "timed", "message", "plain MPI", side, "ratio", "ran"}};
  for (const Measurement& m : measurements) rows.push_back(row_of(m));
  return columns(rows, "<<>>>><");
}

std::string json(const Machine& machine, std::span<const Measurement> measurements) {
  std::vector<std::string> records;
  for (const Measurement& m : measurements) records.push_back(record(machine, m));
  return document(records);
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  constexpr std::array<std::pair<double, const char*>, 3> units = {
      {{1.0, " s"}, {1e-3, " ms"}, {1e-6, " us"}}};
  const auto unit = std::ranges::find_if(units, [&](const auto& u) { return seconds >= u.first; });
  const auto& [scale, name] = unit == units.end() ? units.back() : *unit;
  const double value = seconds / scale;
  return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0) + name;
}

}  // namespace apps
