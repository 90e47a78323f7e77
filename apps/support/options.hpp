// Command lines as tables of options: what each is called, what it means, what it sets.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/progress.hpp"

namespace apps {

/// The command line asks for something that cannot be. The message says the problem, why, and what to do.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string name;      // "--turns"
  std::string argument;  // what follows it, as --help shows it; empty: nothing follows
  std::string meaning;
  std::function<void(const std::string&)> set;  // throws usage_error
};

/// What --help says around the options.
struct Manual {
  std::string program;
  std::string summary;
  std::vector<std::string> examples;
};

/// What every application can be asked for.
struct Common {
  int turns = 20;  // timed runs of each variant; more for a calmer median
  int train = 40;  // runs that Wherry learns from before the timed ones
  std::string json;
  ShowProgress progress = ShowProgress::terminal;
  bool help = false;
};
std::vector<Option> common_options(Common& common);

/// Sets what the words say, in their order; "--name value" and "--name=value" are the same. Throws usage_error.
void parse(std::span<const std::string> words, std::span<const Option> options);

std::string help(const Manual& manual, std::span<const Option> options);

/// Arguments of options; all throw usage_error.
int whole_number(const std::string& text, int least, int most);
double real_number(const std::string& text, double least, double most);
std::vector<int> whole_numbers(const std::string& text, int least, int most);
/// The place of `text` among `names`.
std::size_t one_of(const std::string& text, std::span<const std::string> names);

/// "a, b, c"
std::string listed(std::span<const std::string> names);

}  // namespace apps
