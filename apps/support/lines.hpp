// Text files of numbers, read line by line: what is wrong is said with its line.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/options.hpp"

namespace apps {

/// A file that is not what it should be. The message names the file, the line and the reason.
struct input_error : usage_error {
  using usage_error::usage_error;
};

/// All that is in the file; throws input_error.
std::string read_whole(const std::string& path);

/// A word of a file as a message shows it: its beginning, with \xNN for what is no sign of ASCII.
std::string shown(std::string_view word);

/// The lines of a text, and the words of the line at hand, which blanks separate. `text` must outlive it.
class Lines {
 public:
  Lines(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

  /// Goes to the next line; false behind the last.
  bool next();
  /// The same for a line that is neither empty nor begins with one of these characters.
  bool next_but(std::string_view comments);

  /// The next word of the line; empty if there is none.
  std::string_view word();
  bool has_word() const;
  /// What is left of the line.
  std::string_view rest() const { return line_; }
  bool begins_with(char sign) const { return line_.starts_with(sign); }

  /// The next word as a number from least to most; `what` names it in the error.
  template <class Number>
  Number number(const std::string& what, Number least, Number most);

  /// Throws input_error unless the line ends here.
  void expect_end() const;
  [[noreturn]] void fail(const std::string& reason) const { fail_at(number_, reason); }
  /// The same for a line that was at hand before.
  [[noreturn]] void fail_at(long line, const std::string& reason) const;
  long line_number() const { return number_; }

 private:
  std::string name_;
  std::string_view rest_, line_;
  long number_ = 0;
};

template <class Number>
Number Lines::number(const std::string& what, Number least, Number most) {
  const std::string text(word());
  if (text.empty()) fail("the " + what + " is missing");
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if constexpr (std::is_floating_point_v<Number>) {
    if (error != std::errc() || stop != end || !std::isfinite(value) || value < least || value > most)
      fail("the " + what + " '" + shown(text) + "' is not a finite number" +
           (least < 0 ? "" : " of at least 0"));
  } else if (error != std::errc() || stop != end || value < least || value > most) {
    fail("the " + what + " '" + shown(text) + "' is not a whole number from " + std::to_string(least) +
         " to " + std::to_string(most));
  }
  return value;
}

}  // namespace apps
