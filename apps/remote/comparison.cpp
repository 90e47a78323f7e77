#include "remote/comparison.hpp"

#include <array>

#include "support/columns.hpp"

namespace remote {
namespace {

double hit_ratio(const Statistics& s) {
  return s.gets == 0 ? 0 : static_cast<double>(s.hits) / static_cast<double>(s.gets);
}

double mean_get_bytes(const Statistics& s) {
  return s.gets == 0 ? 0 : static_cast<double>(s.get_bytes) / static_cast<double>(s.gets);
}

std::vector<std::pair<std::string, double>> figures(const Statistics& s) {
  return {{"gets", static_cast<double>(s.gets)},
          {"get_bytes", static_cast<double>(s.get_bytes)},
          {"hits", static_cast<double>(s.hits)},
          {"moves", static_cast<double>(s.moves)},
          {"move_bytes", static_cast<double>(s.move_bytes)}};
}

}  // namespace

Comparison::Comparison(MPI_Comm comm, const CacheOptions& options)
    : comm_(comm), variants_(variants(options)), has_plain_(options.plain) {
  for (const Variant& variant : variants_) sides_.push_back({variant.name, apps::Timings(comm), {}});
}

void Comparison::turn(int number,
                      const std::function<Statistics(const Variant& variant, apps::Timings& timings)>& run) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const std::size_t which = (static_cast<std::size_t>(number) + i) % sides_.size();
    Side& side = sides_[which];
    side.statistics = sum(run(variants_[which], side.timings), comm_);
  }
}

std::vector<apps::Measurement> Comparison::measurements(const std::string& name,
                                                        const std::string& metric) const {
  const std::vector<double> plain_s = has_plain_ ? sides_.front().timings.slowest() : std::vector<double>{};
  std::vector<apps::Measurement> all;
  for (const Side& side : std::span(sides_).subspan(has_plain_ ? 1 : 0))
    all.push_back({.name = name,
                   .metric = metric,
                   .message_bytes = mean_get_bytes(side.statistics),
                   .plain_s = plain_s,
                   .wherry_s = side.timings.slowest(),
                   .strategies = {side.name},
                   .figures = figures(side.statistics)});
  return all;
}

std::string Comparison::table() const {
  std::vector<apps::Words> rows = {{"read with", "gets", "asked for", "hits", "transfers", "transferred"}};
  for (const auto& [name, timings, s] : sides_)
    rows.push_back({name, std::to_string(s.gets), bytes_text(static_cast<double>(s.get_bytes)),
                    apps::fixed(100 * hit_ratio(s), 1) + "%", std::to_string(s.moves),
                    bytes_text(static_cast<double>(s.move_bytes))});
  return apps::columns(rows, "<>>>>>");
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::pair<double, const char*>, 3> units = {
      {{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}}};
  for (const auto& [scale, name] : units)
    if (bytes >= scale) return apps::fixed(bytes / scale, 2) + name;
  return apps::fixed(bytes, 0) + " B";
}

}  // namespace remote
