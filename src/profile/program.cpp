#include "profile/program.hpp"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

namespace wherry::profile {
namespace {

bool is_python(std::string_view executable) {
  return executable.substr(executable.rfind('/') + 1).starts_with("python");
}

/// Modules that run what follows them, as if Python had been started with it.
bool runs_another(std::string_view module) { return module == "mpi4py" || module == "mpi4py.run"; }

/// What `python ARGUMENTS` runs, by the rules of its command line; nothing: commands in words, or typed.
std::optional<std::string> script_of(std::span<const std::string> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-") return std::nullopt;
    if (!word.starts_with('-')) return word;
    if (word == "--check-hash-based-pycs") ++i;
    if (word.starts_with("--")) continue;
    // Letters may stand together; the rest of the word, or the next one, belongs to these.
    const std::size_t at = word.find_first_of("cmWX");
    if (at == std::string::npos) continue;
    if (word[at] == 'c') return std::nullopt;
    const bool apart = at + 1 == word.size();
    if (apart && ++i == arguments.size()) return std::nullopt;
    const std::string value = apart ? arguments[i] : word.substr(at + 1);
    if (word[at] == 'm' && !runs_another(value)) return value;
  }
  return std::nullopt;
}

std::vector<std::string> own_arguments() {
  std::vector<std::string> words;
  std::FILE* const file = std::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return words;
  bool inside = false;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (!inside) words.emplace_back();
    inside = c != 0;
    if (inside) words.back() += static_cast<char>(c);
  }
  std::fclose(file);
  return words;
}

std::string own_executable() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

std::string program_name(const std::string& executable, std::span<const std::string> arguments) {
  return is_python(executable) ? script_of(arguments).value_or(executable) : executable;
}

std::string own_program_name() { return program_name(own_executable(), own_arguments()); }

}  // namespace wherry::profile
