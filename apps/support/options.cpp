#include "support/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

#include "base/nearest.hpp"

namespace apps {
namespace {

constexpr int most_runs = 1'000'000;

/// "--name=value" as two words.
std::vector<std::string> split_words(std::span<const std::string> words) {
  std::vector<std::string> split;
  for (const std::string& word : words) {
    const std::size_t sign = word.starts_with("--") ? word.find('=') : word.npos;
    split.push_back(word.substr(0, sign));
    if (sign != word.npos) split.push_back(word.substr(sign + 1));
  }
  return split;
}

const Option& find(const std::string& name, std::span<const Option> options) {
  const auto found = std::ranges::find(options, name, &Option::name);
  if (found != options.end()) return *found;
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.name);
  const std::string near =
      wherry::did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
  throw usage_error("unknown option '" + name + "' (have: " + listed(names) + ")" +
                    (near.empty() ? "; see --help" : near));
}

void set(const Option& option, const std::string& argument) {
  try {
    option.set(argument);
  } catch (const usage_error& error) {
    throw usage_error(option.name + ": " + error.what());
  }
}

std::string shown(const Option& option) {
  return option.argument.empty() ? option.name : option.name + " " + option.argument;
}

}  // namespace

std::vector<Option> common_options(Common& common) {
  return {
      {"--turns", "N", "timed runs of each side, in turns (default 20)",
       [&](const std::string& text) { common.turns = whole_number(text, 1, most_runs); }},
      {"--train", "N", "runs for Wherry to learn from before the timed ones (default 40)",
       [&](const std::string& text) { common.train = whole_number(text, 0, most_runs); }},
      {"--json", "FILE", "write the records with all samples to FILE, whole or not at all",
       [&](const std::string& text) {
         if (text.empty()) throw usage_error("the name of the file is empty; write --json FILE");
         common.json = text;
       }},
      {"--progress", "", "a line of progress on the error output, also where no terminal is found",
       [&](const std::string&) { common.progress = ShowProgress::error_output; }},
      {"--no-progress", "", "no line of progress",
       [&](const std::string&) { common.progress = ShowProgress::nowhere; }},
      {"--help", "", "this text", [&](const std::string&) { common.help = true; }},
  };
}

void parse(std::span<const std::string> words, std::span<const Option> options) {
  const std::vector<std::string> split = split_words(words);
  for (std::size_t i = 0; i < split.size(); ++i) {
    const Option& option = find(split[i], options);
    if (option.argument.empty()) {
      set(option, "");
      continue;
    }
    if (i + 1 == split.size())
      throw usage_error(option.name + " stands without its argument; write " + shown(option));
    set(option, split[++i]);
  }
}

std::string help(const Manual& manual, std::span<const Option> options) {
  std::string text = "Usage: " + manual.program + " [OPTION]...\n\n" + manual.summary + "\n\nOptions:\n";
  std::size_t width = 0;
  for (const Option& option : options) width = std::max(width, shown(option).size());
  for (const Option& option : options) {
    const std::string left = shown(option);
    text += "  " + left + std::string(width - left.size() + 2, ' ') + option.meaning + "\n";
  }
  text += "\nExamples:\n";
  for (const std::string& example : manual.examples) text += "  " + example + "\n";
  return text;
}

int whole_number(const std::string& text, int least, int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most)
    throw usage_error("'" + text + "' is not a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most));
  return number;
}

double real_number(const std::string& text, double least, double most) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && number >= least && number <= most) return number;
  char range[80];
  std::snprintf(range, sizeof range, "%g to %g", least, most);
  throw usage_error("'" + text + "' is not a number from " + range);
}

std::vector<int> whole_numbers(const std::string& text, int least, int most) {
  std::vector<int> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(whole_number(text.substr(begin, end - begin), least, most));
    begin = end + 1;
  }
  return numbers;
}

std::size_t one_of(const std::string& text, std::span<const std::string> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw usage_error("'" + text + "' is none of " + listed(names));
  return static_cast<std::size_t>(found - names.begin());
}

std::string listed(std::span<const std::string> names) {
  if (names.empty()) return "";
  return std::accumulate(
      names.begin() + 1, names.end(), names.front(),
      [](std::string text, const std::string& name) { return std::move(text) + ", " + name; });
}

}  // namespace apps
