#include "nbody/snapshot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "nbody/gadget.hpp"
#include "nbody/kernels.hpp"
#include "support/lines.hpp"

namespace nbody {
namespace {

constexpr std::string_view header = "m,x,y,z,vx,vy,vz";
constexpr std::array<const char*, 7> columns = {"m", "x", "y", "z", "vx", "vy", "vz"};
constexpr std::string_view state_mark = "# nbody ";
using Row = std::array<double, columns.size()>;

/// The shortest digits that read back as the same number.
std::string digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char sign) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(sign, begin);
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

/// Why these numbers cannot be those of a body.
std::string problem_of(const Row& values) {
  const auto is = [&](std::size_t c) { return std::string(columns[c]) + " is " + digits(values[c]); };
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!std::isfinite(values[c])) return is(c) + "; it must be finite";
  if (values[0] < 0) return is(0) + "; a mass must not be negative";
  for (std::size_t c = 1; c < 4; ++c)
    if (std::abs(values[c]) >= farthest)
      return is(c) + "; write lengths in a unit that keeps them below 1e100";
  return "";
}

/// Reads line by line and knows where it is.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  void read(std::string_view line, bool ended) {
    ++line_;
    if (state_ && !ended) fail("the line breaks off; the file was not copied or written whole");
    line = trimmed(line);
    if (line.starts_with(state_mark)) return read_state(line.substr(state_mark.size()));
    if (line.empty() || line.starts_with('#')) return;
    if (!seen_header_) return read_header(line);
    rows_.push_back(row(line));
  }

  Snapshot finish() const {
    if (!seen_header_)
      throw input_error(name_ + ": no line '" + std::string(header) + "'; write it above the bodies");
    if (rows_.empty())
      throw input_error(name_ + ": no bodies; write a line for each below '" + std::string(header) + "'");
    if (bodies_ && *bodies_ != static_cast<long>(rows_.size()))
      throw input_error(name_ + ": " + std::to_string(rows_.size()) + " bodies instead of " +
                        std::to_string(*bodies_) + "; it was not copied or written whole");
    Snapshot snapshot{Bodies(rows_.size()), state_};
    Bodies& bodies = snapshot.bodies;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      bodies.m[i] = rows_[i][0];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        bodies.place[axis][i] = rows_[i][1 + axis];
        bodies.velocity[axis][i] = rows_[i][4 + axis];
      }
    }
    return snapshot;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw input_error(name_ + ":" + std::to_string(line_) + ": " + problem);
  }

  void read_header(std::string_view line) {
    if (line != header)
      fail("'" + apps::shown(line) + "' instead of '" + std::string(header) +
           "'; name the columns so, in this order");
    seen_header_ = true;
  }

  double number(std::string_view text, const char* what) const {
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size())
      fail(std::string(what) + " is '" + apps::shown(text) + "', which is no number");
    if (!std::isfinite(value)) fail(std::string(what) + " is " + apps::shown(text) + "; it must be finite");
    return value;
  }

  double from_zero(std::string_view text, const char* what) const {
    const double value = number(text, what);
    if (value < 0) fail(std::string(what) + " is " + digits(value) + "; it must not be negative");
    return value;
  }

  long whole(std::string_view text, const char* what) const {
    constexpr double most = 9e15;  // below 2^53: every such number has its own digits
    const double value = from_zero(text, what);
    if (value > most || value != std::floor(value))
      fail(std::string(what) + " is " + digits(value) + "; it must be a whole number up to " + digits(most));
    return static_cast<long>(value);
  }

  Row row(std::string_view line) const {
    const std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() != columns.size())
      fail(std::to_string(fields.size()) + " fields instead of " + std::to_string(columns.size()) + " (" +
           std::string(header) + ")");
    Row values{};
    for (std::size_t c = 0; c < columns.size(); ++c) values[c] = number(fields[c], columns[c]);
    if (const std::string problem = problem_of(values); !problem.empty()) fail(problem);
    return values;
  }

  void read_state(std::string_view text) {
    RunState state;
    std::vector<std::string_view> seen;
    for (const std::string_view field : split(text, ' ')) {
      if (field.empty()) continue;
      const std::size_t sign = field.find('=');
      const std::string_view name = field.substr(0, sign);
      const std::string_view value = sign == field.npos ? std::string_view() : field.substr(sign + 1);
      if (std::ranges::find(seen, name) != seen.end()) fail("'" + apps::shown(name) + "' is there twice");
      seen.push_back(name);
      if (name == "step") state.step = whole(value, "step");
      else if (name == "dt") state.dt = from_zero(value, "dt");
      else if (name == "eps") state.eps = from_zero(value, "eps");
      else if (name == "integrator") state.integrator = value;
      else if (name == "bodies") bodies_ = whole(value, "bodies");
      else fail("'" + apps::shown(name) + "' is none of step, dt, eps, integrator, bodies");
    }
    for (const char* const name : {"step", "dt", "eps", "integrator"})
      if (std::ranges::find(seen, name) == seen.end())
        fail("no '" + std::string(name) + "='; write the line as --output does");
    if (state.dt == 0) fail("dt is 0; it must be more than zero");
    state_ = state;
  }

  std::string name_;
  std::size_t line_ = 0;
  bool seen_header_ = false;
  std::vector<Row> rows_;
  std::optional<RunState> state_;
  std::optional<long> bodies_;  // that the file says it has
};

}  // namespace

std::string snapshot_text(const Bodies& bodies, const RunState& state) {
  std::string text = std::string(state_mark) + "step=" + std::to_string(state.step) +
                     " dt=" + digits(state.dt) + " eps=" + digits(state.eps) +
                     " integrator=" + state.integrator + " bodies=" + std::to_string(bodies.size()) + "\n" +
                     std::string(header) + "\n";
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    text += digits(bodies.m[i]);
    for (const Vectors* vectors : {&bodies.place, &bodies.velocity})
      for (const double value : vectors->at(i)) text += "," + digits(value);
    text += "\n";
  }
  return text;
}

Snapshot parse_snapshot(const std::string& text, const std::string& name) {
  Reader reader(name);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) reader.read(line, !lines.eof());
  return reader.finish();
}

Snapshot read_snapshot(const std::string& path) {
  if (std::error_code unknown; std::filesystem::is_directory(path, unknown))
    throw input_error("cannot read '" + path + "': it is a folder; name a file of bodies");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open())
    throw input_error("cannot read '" + path + "': " + std::strerror(errno) + "; name a file of bodies");
  if (looks_like_gadget(text)) return {parse_gadget(text, path), std::nullopt};
  return parse_snapshot(text, path);
}

std::string file_of(const std::string& path, const Bodies& bodies, const RunState& state) {
  if (path.ends_with(".gadget")) return gadget_text(bodies, static_cast<double>(state.step) * state.dt);
  return snapshot_text(bodies, state);
}

std::string why_unfit(const Bodies& bodies, std::size_t body) {
  const auto place = bodies.place.at(body), velocity = bodies.velocity.at(body);
  return problem_of({bodies.m[body], place[0], place[1], place[2], velocity[0], velocity[1], velocity[2]});
}

}  // namespace nbody
