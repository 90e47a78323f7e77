#include "support/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "support/columns.hpp"
#include "support/json.hpp"
#include "support/options.hpp"

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
void write_samples(JsonWriter& json, const Measurement& m) {
  json.array([&] {
    json.object([&] {
      json.member("launch", 0);
      list(json, "native", m.plain_s);
      list(json, "wherry", m.wherry_s);
    });
  });
}

void write(JsonWriter& json, const Machine& machine, const Measurement& m) {
  json.object([&] {
    json.member("bench", machine.application);
    json.member("case", m.name);
    json.member("metric", m.metric);
    json.member("unit", "s");
    json.member("value", median(m.wherry_s));
    json.member("baseline", median(m.plain_s));
    json.member("ratio", ratio(m));
    json.member("mpi", machine.mpi);
    json.member("ranks", machine.ranks);
    json.member("machine", machine.host);
    json.member("version", machine.wherry);
    json.member("statistic", statistic);
    json.member("message_bytes", m.message_bytes);
    list(json, "strategies", m.strategies);
    json.member("samples", [&] { write_samples(json, m); });
    for (const auto& [name, value] : m.figures) json.member(name, value);
  });
}

}  // namespace

double ratio(const Measurement& measurement) {
  return median(measurement.plain_s) / median(measurement.wherry_s);
}

std::string table(std::span<const Measurement> measurements, const std::string& side) {
  std::vector<Words> rows = {{"case", "timed", "message", "plain MPI", side, "ratio", "ran"}};
  for (const Measurement& m : measurements) rows.push_back(row_of(m));
  return columns(rows, "<<>>>><");
}

std::string json(const Machine& machine, std::span<const Measurement> measurements) {
  std::ostringstream text;
  JsonWriter json(text);
  json.array([&] {
    for (const Measurement& m : measurements) write(json, machine, m);
  });
  return text.str();
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
