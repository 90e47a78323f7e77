// Files that are written whole or not at all.
#pragma once

#include <initializer_list>
#include <string>

namespace apps {

/// A file that an option names; none if the path is empty.
struct NamedFile {
  const char* option;
  std::string path;
};

/// Before there is anything to write. Throws usage_error if one of the outputs cannot be written, if two are the same
/// file, however it is named, or if one is the input. Several may go to one device or pipe.
void check_writable(std::initializer_list<NamedFile> outputs, const NamedFile& input = {"", ""});

/// Why `path` cannot be written, and what to do; empty if it can. Leaves no file behind.
std::string why_unwritable(const std::string& path);

/// Replaces `path`, or what it is a symbolic link to, by a file with this text. On failure the file is what it was,
/// nothing is left behind, and std::runtime_error says why. A device or a pipe stays, and gets the text; so does
/// /dev/stdout where it is a file, behind what was printed.
void write_whole(const std::string& path, const std::string& text);

}  // namespace apps
