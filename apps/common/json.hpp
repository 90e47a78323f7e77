// Values of JSON as text.
#pragma once

#include <span>
#include <string>
#include <utility>

namespace apps {

/// A string. What is not printable ASCII becomes '?'.
std::string quoted(const std::string& text);

/// The shortest digits that read back as the same number; null for what is not finite.
std::string number(double value);

/// write(value) for each of the values.
template <class Values, class Write>
std::string list(const Values& values, Write write) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + write(value);
  return "[" + text + "]";
}

/// A name, and its value as text.
using Member = std::pair<std::string, std::string>;
std::string object(std::span<const Member> members);

/// A list of objects, a line each.
std::string document(std::span<const std::string> objects);

}  // namespace apps
