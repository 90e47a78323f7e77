// What every rank has of each segment, beside the arrows of a picture.
#pragma once

#include <ostream>

#include "draw/picture.hpp"
#include "draw/picture_layout.hpp"

namespace wherry::draw {

/// The strips after all columns, and before the first of each row. A bar is a segment, as high as the share of the
/// ranks whose data is in it; what has just come stands out, and is named where there is room.
void draw_strips(std::ostream& out, const Picture& picture, const Frame& frame);

/// What the bars and their colours mean, from x on.
void explain_strips(std::ostream& out, const Picture& picture, double x, double y);

}  // namespace wherry::draw
