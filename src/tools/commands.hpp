// The commands of wherry-plan. Each writes its answer to stdout and returns an exit code.
#pragma once

#include <span>
#include <string>

namespace wherry::tools {

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
