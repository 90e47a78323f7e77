// The commands of wherry-plan. Each writes its answer to stdout and returns an exit code.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wherry::tools {

/// The words after a command. All errors are usage_error.
class CommandLine {
 public:
  /// Takes `--name value`, `--name=value` and `-n value` for the names given (with their dashes) and at most
  /// `positionals` other words; refuses everything else, with the nearest name.
  CommandLine(std::span<const std::string> words, std::initializer_list<std::string_view> names,
              std::size_t positionals);

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::optional<std::string> text(std::string_view name) const;
  /// The option's value, which must be a whole number from `low` to `high`; `missing` if it was not given.
  long long number(std::string_view name, long long low, long long high,
                   std::optional<long long> missing) const;
  const std::vector<std::string>& positionals() const { return positionals_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> positionals_;
};

/// A whole number from `low` to `high`; `what` names it in the error.
long long parse_number(std::string_view what, std::string_view text, long long low, long long high);

/// What follows a command's name. Errors are usage_error, or schedule_error.
using Words = std::span<const std::string>;

int list_strategies(Words words);
int explain(Words words);
int draw(Words words);
int show_schedule(Words words);
int verify(Words words);
/// Reads samples, writes constants, and keeps them if told where.
int fit(Words words);

}  // namespace wherry::tools
