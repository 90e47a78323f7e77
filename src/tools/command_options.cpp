#include "tools/commands.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace wherry::tools {

CommandLine::CommandLine(std::span<const std::string> words, std::initializer_list<std::string_view> names,
                         std::size_t positionals) {
  const std::vector<std::string_view> known(names);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      if (positionals_.size() == positionals) throw usage_error("unexpected '" + word + "'; leave it out");
      positionals_.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error("unknown option '" + name + "'" + did_you_mean(name, known));
    if (equals == std::string::npos && i + 1 == words.size())
      throw usage_error(name + " has no value; write " + name + " VALUE");
    if (values_.count(name) != 0) throw usage_error(name + " is given twice; give it once");
    values_[name] = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
  }
}

std::optional<std::string> CommandLine::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

long long CommandLine::number(std::string_view name, long long low, long long high,
                              std::optional<long long> missing) const {
  if (const auto given = text(name)) return parse_number(name, *given, low, high);
  if (!missing) throw usage_error(std::string(name) + " is missing; write " + std::string(name) + " NUMBER");
  return *missing;
}

long long parse_number(std::string_view what, std::string_view text, long long low, long long high) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high)
    throw usage_error(std::string(what) + " '" + std::string(text) + "' is no whole number from " +
                      std::to_string(low) + " to " + std::to_string(high) + "; give one");
  return number;
}

}  // namespace wherry::tools
