#include "tuning/tuning_store.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace wherry::tuning {
namespace {

constexpr std::string_view magic = "wherry-tuning";
constexpr int version = 2;
constexpr int first_version = 1;  // without rows of machines
constexpr std::string_view unknown = "-";

// ---- Fields: words without spaces ----

bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && c != '%';
}

/// Any text as one word: blanks, control characters and % as %XX; nothing at all as "-".
std::string escape(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (text.empty()) return std::string(unknown);
  if (text == unknown) return "%2D";
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain(c)) word += c;
    else word += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return word;
}

std::string written(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return std::string(unknown);
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), *value);
  return {digits, end};
}

std::string written(std::uint64_t value, int base) {
  char digits[24];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value, base);
  return {digits, end};
}

/// Takes words off the front of a line. After a word that does not fit, nothing fits any more.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    good_ = good_ && !word.empty();
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }

  std::string text() {
    const std::string_view escaped = word();
    std::string text;
    if (escaped == unknown) return text;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      const bool code = escaped[i] == '%';
      text += code ? static_cast<char>(number_in<unsigned char>(escaped.substr(i + 1, 2), 16)) : escaped[i];
      if (code) i += 2;
    }
    return text;
  }

  template <class Number>
  Number number(int base = 10) {
    return number_in<Number>(word(), base);
  }

  std::optional<double> real() {
    const std::string_view digits = word();
    if (digits == unknown) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    good_ = good_ && error == std::errc{} && end == digits.data() + digits.size() && std::isfinite(value);
    return value;
  }

  void expect(std::string_view literal) { good_ = word() == literal && good_; }
  bool done() const { return good_ && rest_.empty(); }

 private:
  template <class Number>
  Number number_in(std::string_view digits, int base) {
    Number value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    good_ = good_ && error == std::errc{} && end == digits.data() + digits.size();
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

// ---- Lines ----

std::string format_header(int of_version = version) {
  return std::string(magic) + ' ' + std::to_string(of_version) + '\n';
}

std::string format_row(const TuningRow& row) {
  std::string line = "row";
  for (const std::string& word :
       {escape(row.key.machine), escape(row.key.mpi), std::to_string(row.key.ranks),
        written(row.key.placement, 16), escape(row.key.operation), std::to_string(row.key.bucket),
        escape(row.strategy), written(row.seconds), written(row.native_seconds), std::to_string(row.trials)})
    line += ' ' + word;
  return line + '\n';
}

std::string format_row(const MachineRow& row) {
  std::string line = "machine " + escape(row.key.machine) + ' ' + escape(row.key.mpi);
  for (const double value : row.constants)
    line += ' ' + (model::is_known(value) ? written(value) : std::string(unknown));
  return line + '\n';
}

std::optional<TuningRow> parse_row(Words words) {
  TuningRow row;
  row.key.machine = words.text();
  row.key.mpi = words.text();
  row.key.ranks = words.number<int>();
  row.key.placement = words.number<unsigned long long>(16);
  row.key.operation = words.text();
  row.key.bucket = words.number<unsigned>();
  row.strategy = words.text();
  row.seconds = words.real();
  row.native_seconds = words.real();
  row.trials = words.number<unsigned>();
  return words.done() ? std::optional(std::move(row)) : std::nullopt;
}

std::optional<MachineRow> parse_machine(Words words) {
  MachineRow row;
  row.key.machine = words.text();
  row.key.mpi = words.text();
  bool good = true;
  for (std::size_t i = 0; i < row.constants.size(); ++i) {
    const std::optional<double> value = words.real();
    good = good && (!value || model::is_plausible(model::constants[i], *value));
    row.constants[i] = value.value_or(model::not_known);
  }
  return words.done() && good ? std::optional(std::move(row)) : std::nullopt;
}

/// Puts what a line holds; whether it is a row that files of this version hold.
bool read_row(std::string_view line, int of_version, TuningTable& table) {
  const auto put = [&table](auto row) {
    if (row) table.put(*std::move(row));
    return row.has_value();
  };
  Words words(line);
  const std::string_view kind = words.word();
  if (kind == "row") return put(parse_row(words));
  return kind == "machine" && of_version > first_version && put(parse_machine(words));
}

/// FNV-1a. Every step is a bijection of the state, so a change of any single byte changes the result.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t state = 0xcbf29ce484222325u;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return state;
}

/// The last line of a file, which covers everything before it.
std::string format_end(std::string_view before) { return "end " + written(checksum(before), 16) + '\n'; }

/// Takes the first line off a text, without its newline; the whole text if there is none.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// ---- Verdicts ----

TuningRead failed(TuningState state, std::string problem) {
  return {.table = {}, .state = state, .problem = std::move(problem)};
}

TuningRead damaged(const std::string& how) {
  return failed(TuningState::damaged,
                "damaged tuning file (" + how + "): ignored; the next save replaces it");
}

TuningRead not_ours() {
  return failed(TuningState::foreign,
                "not a tuning file: ignored and left alone; name another file or move it away");
}

TuningRead other_version(int found) {
  return failed(TuningState::foreign, "tuning file of version " + std::to_string(found) +
                                          ", this Wherry reads versions to " + std::to_string(version) +
                                          ": ignored and left alone; name another file");
}

/// The version that the first line names, or nothing.
std::optional<int> version_in(std::string_view line) {
  Words words(line);
  words.expect(magic);
  const int found = words.number<int>();
  return words.done() ? std::optional(found) : std::nullopt;
}

/// The text between header and last line, if the last line is what format() would have put there.
std::optional<std::string_view> intact_body(std::string_view text) {
  constexpr std::string_view last = "\nend ";
  const std::size_t at = text.rfind(last);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at + 1);
  if (text.substr(at + 1) != format_end(before)) return std::nullopt;
  return before.substr(before.find('\n') + 1);
}

}  // namespace

const TuningRow* TuningTable::find(const TuningKey& key) const {
  const auto at = std::ranges::lower_bound(rows_, key, {}, &TuningRow::key);
  return at != rows_.end() && at->key == key ? &*at : nullptr;
}

const MachineRow* TuningTable::find(const MachineKey& key) const {
  const auto at = std::ranges::lower_bound(machines_, key, {}, &MachineRow::key);
  return at != machines_.end() && at->key == key ? &*at : nullptr;
}

void TuningTable::put(TuningRow row) {
  const auto at = std::ranges::lower_bound(rows_, row.key, {}, &TuningRow::key);
  if (at != rows_.end() && at->key == row.key) *at = std::move(row);
  else rows_.insert(at, std::move(row));
}

void TuningTable::put(MachineRow row) {
  const auto at = std::ranges::lower_bound(machines_, row.key, {}, &MachineRow::key);
  if (at == machines_.end() || at->key != row.key) {
    machines_.insert(at, std::move(row));
    return;
  }
  for (std::size_t i = 0; i < row.constants.size(); ++i)
    if (model::is_known(row.constants[i])) at->constants[i] = row.constants[i];
}

void TuningTable::merge(const TuningTable& newer) {
  for (const TuningRow& row : newer.rows()) put(row);
  for (const MachineRow& row : newer.machines()) put(row);
}

std::string format(const TuningTable& table) {
  std::string text = format_header();
  for (const MachineRow& row : table.machines()) text += format_row(row);
  for (const TuningRow& row : table.rows()) text += format_row(row);
  return text + format_end(text);
}

TuningRead parse(std::string_view text) {
  for (int v = first_version; v <= version; ++v)
    if (format_header(v).starts_with(text)) return damaged("cut short in its first line");
  std::string_view rest = text;
  const std::optional<int> found = version_in(take_line(rest));
  if (!found) return not_ours();
  if (*found < first_version || *found > version) return other_version(*found);
  std::optional<std::string_view> body = intact_body(text);
  if (!body) return damaged("cut short, or its checksum is wrong");
  TuningRead read;
  for (int line = 2; !body->empty(); ++line)
    if (!read_row(take_line(*body), *found, read.table))
      return damaged("line " + std::to_string(line) + " is not a row");
  return read;
}

}  // namespace wherry::tuning
