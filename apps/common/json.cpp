#include "common/json.hpp"

#include <charconv>
#include <cmath>

namespace apps {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + "\"";
}

std::string number(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return std::isfinite(value) ? std::string(digits, end) : "null";
}

std::string object(std::span<const Member> members) {
  std::string text;
  for (const auto& [name, value] : members) text += (text.empty() ? "" : ", ") + quoted(name) + ": " + value;
  return "{" + text + "}";
}

std::string document(std::span<const std::string> objects) {
  std::string text;
  for (const std::string& each : objects) text += (text.empty() ? "" : ",\n ") + each;
  return "[" + text + "]\n";
}

}  // namespace apps
