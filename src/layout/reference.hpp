// The oracle: what a layout means, byte by byte. Slow and obvious; used by tests only.
#pragma once

#include <cstddef>
#include <vector>

#include "layout/layout.hpp"

namespace wherry::layout {

/// The offset of each byte of data, in the order of the type map.
std::vector<Offset> byte_offsets(const Layout& layout);

/// Copies byte i of the data of `from_layout` to byte i of those of `to_layout`, for begin <= i < end, in that order.
void reference_copy(const Layout& to_layout, std::byte* to, const Layout& from_layout, const std::byte* from,
                    Offset begin, Offset end);

}  // namespace wherry::layout
