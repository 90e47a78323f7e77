// Files that are written whole or not at all.
#pragma once

#include <string>

namespace apps {

/// Why `path` cannot be written, and what to do; empty if it can. Leaves no file behind.
std::string why_unwritable(const std::string& path);

/// Replaces `path` by a file with this text. On failure `path` is what it was, nothing is left behind, and
/// std::runtime_error says why.
void write_whole(const std::string& path, const std::string& text);

}  // namespace apps
