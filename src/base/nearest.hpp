// "Did you mean ...?": the known word that is nearest to an unknown one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wherry {

/// Letters to insert, delete, replace or swap with their neighbor to turn a into b, in any case of letters.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `known` (the first of equals), or empty if none is within a third of the word's length, without the
/// beginning that all of them have.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean 'bruck'?" or nothing, to end an error message with.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace wherry
