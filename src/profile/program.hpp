// What the record calls the program.
#pragma once

#include <span>
#include <string>

namespace wherry::profile {

/// The executable; or, if that is Python, the script or module it runs. arguments: all words of the command line.
std::string program_name(const std::string& executable, std::span<const std::string> arguments);

/// That of this process.
std::string own_program_name();

}  // namespace wherry::profile
