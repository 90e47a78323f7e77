#include "common/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "common/options.hpp"

namespace apps {
namespace {

std::string partial(const std::string& path) { return path + ".partial"; }

/// Empty if all went well.
std::string write(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return "";
  return errno != 0 ? std::strerror(errno) : "the file cannot be written";
}

}  // namespace

std::string why_unwritable(const std::string& path) {
  std::error_code ignored;
  std::string problem =
      std::filesystem::is_directory(path, ignored) ? "it is a folder" : write(partial(path), "");
  std::filesystem::remove(partial(path), ignored);
  return problem.empty()
             ? ""
             : "cannot write '" + path + "': " + problem + "; name a file in a folder that can be written";
}

void check_writable(std::initializer_list<OutputFile> files) {
  std::map<std::string, const char*> options;
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    const auto [first, is_new] = options.emplace(path, option);
    if (!is_new)
      throw usage_error(std::string(first->second) + " and " + option + " name the same file; name two");
  }
  for (const auto& [path, option] : options)
    if (const std::string problem = why_unwritable(path); !problem.empty()) throw usage_error(problem);
}

void write_whole(const std::string& path, const std::string& text) {
  std::error_code problem, ignored;
  std::string why = write(partial(path), text);
  if (why.empty()) {
    std::filesystem::rename(partial(path), path, problem);
    if (problem) why = problem.message();
  }
  if (why.empty()) return;
  std::filesystem::remove(partial(path), ignored);
  throw std::runtime_error("cannot write '" + path + "': " + why);
}

}  // namespace apps
