// Files that are written whole or not at all.
#pragma once

#include <initializer_list>
#include <string>

namespace apps {

/// A file that an option names; none if the path is empty.
struct OutputFile {
  const char* option;
  std::string path;
};

/// Before there is anything to write. Throws usage_error if one of the files cannot be written, or if two are the same.
void check_writable(std::initializer_list<OutputFile> files);

/// Why `path` cannot be written, and what to do; empty if it can. Leaves no file behind.
std::string why_unwritable(const std::string& path);

/// Replaces `path` by a file with this text. On failure `path` is what it was, nothing is left behind, and
/// std::runtime_error says why.
void write_whole(const std::string& path, const std::string& text);

}  // namespace apps
