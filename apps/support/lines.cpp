#include "support/lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace apps {
namespace {

constexpr std::string_view blanks = " \t\r,;";
constexpr std::size_t most_shown = 40;

}  // namespace

std::string read_whole(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (file.good()) {
    file.read(buffer.data(), buffer.size());
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  // A folder can be opened, but not read.
  if (file.bad() || !file.eof())
    throw input_error("cannot read '" + path + "': " + std::strerror(errno != 0 ? errno : EIO) +
                      "; name a file that can be read");
  return text;
}

std::string shown(std::string_view word) {
  std::string text;
  for (const char sign : word.substr(0, most_shown)) {
    char escaped[8];
    const auto byte = static_cast<unsigned char>(sign);
    std::snprintf(escaped, sizeof escaped, byte >= ' ' && byte <= '~' ? "%c" : "\\x%02x", byte);
    text += escaped;
  }
  return text + (word.size() > most_shown ? "..." : "");
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_ = end == rest_.npos ? std::string_view{} : rest_.substr(end + 1);
  ++number_;
  return true;
}

bool Lines::next_but(std::string_view comments) {
  while (next()) {
    const std::size_t first = line_.find_first_not_of(blanks);
    if (first != line_.npos && comments.find(line_[first]) == comments.npos) return true;
  }
  return false;
}

std::string_view Lines::word() {
  const std::size_t begin = std::min(line_.find_first_not_of(blanks), line_.size());
  const std::size_t end = std::min(line_.find_first_of(blanks, begin), line_.size());
  const std::string_view found = line_.substr(begin, end - begin);
  line_ = line_.substr(end);
  return found;
}

bool Lines::has_word() const { return line_.find_first_not_of(blanks) != line_.npos; }

void Lines::expect_end() const {
  if (!has_word()) return;
  fail("'" + shown(line_.substr(line_.find_first_not_of(blanks))) + "' stands where the line should end");
}

void Lines::fail_at(long line, const std::string& reason) const {
  throw input_error(name_ + ", line " + std::to_string(line) + ": " + reason);
}

}  // namespace apps
