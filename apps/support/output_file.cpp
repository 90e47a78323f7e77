#include "support/output_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "support/options.hpp"

namespace apps {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as Linux follows

/// A name beside a path that nobody has.
std::string partial(const std::string& path) {
  std::string name = path + ".partial";
  std::error_code unknown;
  for (int more = 1; fs::exists(fs::symlink_status(name, unknown)); ++more)
    name = path + ".partial" + std::to_string(more);
  return name;
}

/// Of what a path names that this process has open: /dev/stdout and the like, which may lead to a file.
std::optional<int> descriptor(const std::string& path) {
  std::error_code ignored;
  const std::string name = fs::absolute(path, ignored).lexically_normal();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  const char* const end = name.data() + name.size();
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = 0;
    if (name.starts_with(folder) &&
        std::from_chars(name.data() + folder.size(), end, number) == std::from_chars_result{end, {}})
      return number;
  }
  return std::nullopt;
}

/// Whether text goes into what is there, a device or a pipe: a file in its place would be the end of it. Also of
/// what cannot be looked at, so that opening it says why.
bool stays(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::not_found) return false;
  return type != fs::file_type::regular || descriptor(path);
}

/// The file that symbolic links lead to, be it there or not; without links the path itself.
fs::path followed(fs::path path) {
  std::error_code ignored;
  for (int links = 0; links < most_links && fs::is_symlink(path, ignored); ++links)
    path = path.parent_path() / fs::read_symlink(path, ignored);
  return path;
}

/// One name for all spellings of a path.
fs::path settled(const std::string& path) {
  std::error_code unknown;
  const fs::path whole = fs::absolute(followed(path), unknown);
  const fs::path name = fs::weakly_canonical(whole, unknown);
  return unknown ? whole.lexically_normal() : name;
}

/// Two outputs to one device or pipe follow each other, and are no two texts for one file.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (stays(a) && stays(b)) return false;
  return fs::equivalent(a, b, ignored) || settled(a) == settled(b);
}

/// Empty if all went well.
std::string write(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return "";
  return errno != 0 ? std::strerror(errno) : "the file cannot be written";
}

/// The same, behind what this process has printed there.
std::string write(int descriptor, std::string_view text) {
  std::fflush(nullptr);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return std::strerror(errno);
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return "";
}

std::string write_into(const std::string& path, const std::string& text) {
  const std::optional<int> open = descriptor(path);
  return open ? write(*open, text) : write(path, text);
}

/// Empty if a file can be put beside `path`, which is tried.
std::string why_not_beside(const std::string& path) {
  const std::string beside = partial(path), problem = write(beside, "");
  std::error_code ignored;
  fs::remove(beside, ignored);
  return problem;
}

/// Empty if all went well; else nothing is left behind.
std::string replace(const std::string& path, const std::string& text) {
  const std::string beside = partial(path);
  std::string why = write(beside, text);
  std::error_code problem, ignored;
  if (why.empty()) fs::rename(beside, path, problem);
  if (problem) why = problem.message();
  if (!why.empty()) fs::remove(beside, ignored);
  return why;
}

std::string why_not(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return "it is a folder";
  if (!stays(path)) return why_not_beside(followed(path));
  // Not opened: that would wait for a pipe's reader.
  return ::access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

std::string why_unwritable(const std::string& path) {
  const std::string problem = why_not(path);
  return problem.empty()
             ? ""
             : "cannot write '" + path + "': " + problem + "; name a file in a folder that can be written";
}

void check_writable(std::initializer_list<NamedFile> outputs, const NamedFile& input) {
  std::vector<NamedFile> known;
  for (const NamedFile& output : outputs) {
    if (output.path.empty()) continue;
    if (!input.path.empty() && same_file(input.path, output.path))
      throw usage_error(std::string(output.option) + " names the file that " + input.option +
                        " reads, which would be lost; name another");
    for (const NamedFile& other : known)
      if (same_file(other.path, output.path))
        throw usage_error(std::string(other.option) + " and " + output.option +
                          " name the same file; name two");
    known.push_back(output);
  }
  for (const NamedFile& output : known)
    if (const std::string problem = why_unwritable(output.path); !problem.empty()) throw usage_error(problem);
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string why = stays(path) ? write_into(path, text) : replace(followed(path), text);
  if (!why.empty()) throw std::runtime_error("cannot write '" + path + "': " + why);
}

}  // namespace apps
