// Rows of words as columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace apps {

using Words = std::vector<std::string>;

/// All rows have as many words as `sides` has signs: '<' for a column at the left of its width, '>' for one at the
/// right.
std::string columns(const std::vector<Words>& rows, const std::string& sides);

/// "1 body", "2 bodies"
std::string counted(std::uint64_t number, const std::string& one, const std::string& more);

/// So many digits behind the point.
std::string fixed(double value, int digits);

}  // namespace apps
