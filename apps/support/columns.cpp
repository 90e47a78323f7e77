#include "support/columns.hpp"

#include <algorithm>
#include <cstdio>

namespace apps {
namespace {

std::vector<std::size_t> widths_of(const std::vector<Words>& rows, std::size_t columns) {
  std::vector<std::size_t> widths(columns);
  for (const Words& row : rows)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row[c].size());
  return widths;
}

std::string line(const Words& row, const std::vector<std::size_t>& widths, const std::string& sides) {
  std::string text;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string space(widths[c] - row[c].size(), ' ');
    text += (c == 0 ? "" : "  ") + (sides[c] == '>' ? space + row[c] : row[c] + space);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string columns(const std::vector<Words>& rows, const std::string& sides) {
  const std::vector<std::size_t> widths = widths_of(rows, sides.size());
  std::string text;
  for (const Words& row : rows) text += line(row, widths, sides);
  return text;
}

std::string counted(std::uint64_t number, const std::string& one, const std::string& more) {
  return std::to_string(number) + " " + (number == 1 ? one : more);
}

std::string fixed(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace apps
