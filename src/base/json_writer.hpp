// Writes JSON (RFC 8259) to a stream, strictly: what comes out always parses.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace wherry {

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0U) == 0xE0       ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Longer than needed, surrogates, beyond U+10FFFF: told by the second byte.
  const unsigned second = byte(1);
  const bool ill_formed = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                          (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return ill_formed ? 0 : length;
}

/// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) out += "\\ufffd";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      (out += c < 0x10 ? "\\u000" : "\\u001") += "0123456789abcdef"[c % 16];
    else out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out += '"';
}

/// The shortest digits that read back as the same number; null if it is not finite.
inline std::string json_number(double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return std::isfinite(number) ? std::string(digits, end) : "null";
}

/// Nested values, members in the order in which they are written, two spaces per level.
///
///   JsonWriter json(std::cout);
///   json.object([&] { json.member("ranks", 4); json.member("nodes", [&] { json.array([&] { json.value(1); }); }); });
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void value(std::string_view text) { write(json_string(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool b) { write(b ? "true" : "false"); }
  void value(std::integral auto number) { write(std::to_string(number)); }
  void value(double number) { write(json_number(number)); }

  template <std::invocable Body>
  void object(Body&& body) {
    nest('{', body, '}');
  }
  template <std::invocable Body>
  void array(Body&& body) {
    nest('[', body, ']');
  }

  /// A member of the object being written: a plain value, or a callable that writes one value.
  template <class Value>
  void member(std::string_view name, Value&& content) {
    write(json_string(name));
    out_ << ": ";
    after_name_ = true;
    if constexpr (std::invocable<Value>) content();
    else value(content);
  }

 private:
  void write(std::string_view text) {
    start();
    out_ << text;
  }

  void start() {
    if (after_name_) {
      after_name_ = false;
      return;
    }
    if (depth_ > 0) out_ << (empty_ ? "\n" : ",\n") << std::string(static_cast<std::size_t>(2 * depth_), ' ');
    empty_ = false;
  }

  template <class Body>
  void nest(char open, Body&& body, char close) {
    start();
    out_ << open;
    ++depth_;
    empty_ = true;
    body();
    --depth_;
    if (!empty_) out_ << '\n' << std::string(static_cast<std::size_t>(2 * depth_), ' ');
    empty_ = false;
    out_ << close;
    if (depth_ == 0) out_ << '\n';
  }

  std::ostream& out_;
  int depth_ = 0;
  bool empty_ = true;        // nothing written yet in the current object or array
  bool after_name_ = false;  // the next value belongs to the name just written
};

}  // namespace wherry
