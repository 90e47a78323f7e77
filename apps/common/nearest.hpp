// The known word that is nearest to an unknown one. Applications see Wherry's public headers only, so they have this of
// their own.
#pragma once

#include <span>
#include <string>

namespace apps {

/// By letters to insert, delete or replace; empty if none is within a third of the word's length.
std::string nearest(const std::string& word, std::span<const std::string> known);

}  // namespace apps
