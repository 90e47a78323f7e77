// What every rank has of each segment, beside the arrows of a picture.
#pragma once

#include <ostream>

#include "plan/picture.hpp"
#include "plan/render_frame.hpp"

namespace wherry::plan {

/// The strips after all columns, and before the first of each row. A bar is a segment, as high as the share of the
/// ranks whose data is in it; what has just come stands out, and is named where there is room.
void draw_strips(std::ostream& out, const Picture& picture, const Frame& frame);

/// What the bars and their colours mean, from x on.
void explain_strips(std::ostream& out, const Picture& picture, double x, double y);

}  // namespace wherry::plan
