// One description for each map: whatever constructors a layout was made with, equal maps become equal descriptions.
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace wherry::layout {

/// The canonical form: the layout begins at its first byte, and the displacement says where that is.
/// bytes(canonical(x)) == bytes(x); canonical(x) == canonical(y) exactly if bytes(x) == bytes(y), where lists describe
/// up to `most_blocks` blocks. Of longer lists the levels are kept, and only repetition is made simpler.
PlacedLayout canonical(const Layout& layout);

inline constexpr Offset most_blocks = Offset{1} << 20;  // 16 MB while they are looked at

// The laws. All take and give canonical forms, and keep the bytes.

/// Repetition: count times x, stride apart. Blocks that touch coalesce, and levels whose strides fit become one.
/// Never looks at single blocks, so its cost does not depend on the count.
PlacedLayout repeated(Offset count, Offset stride, const PlacedLayout& x);

/// A list of blocks in the form that its periods give: the smallest period of lengths and gaps that divides the list
/// is a repetition; what has none is cut into runs of constant stride, and what is left is a list.
PlacedLayout compressed(const std::vector<ByteBlock>& blocks);

/// Adjacent blocks of the description as one, in order.
std::vector<ByteBlock> maximal_blocks(const Layout& layout);

/// One past the byte that comes last.
Offset last_end(const Layout& layout);

}  // namespace wherry::layout
