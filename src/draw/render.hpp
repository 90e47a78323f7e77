// Pictures of the schedules of all ranks: who sends what to whom, and when.
#pragma once

#include <string>
#include <string_view>

#include "draw/picture.hpp"
#include "topology/placement.hpp"

namespace wherry::draw {

/// More ranks than this cannot be told apart in a picture.
inline constexpr int most_drawn = 128;

/// What stands above the picture; any text.
struct Caption {
  std::string_view title;
  std::string_view subtitle;
};

/// Plain text: per column, a line per sending rank with its receivers and what each of them gets: "x4" blocks, or
/// segments "[0-3]", with a "+" if they are combined with what the receiver has. At most `most_drawn` ranks; else
/// usage_error.
std::string render_text(const Caption& caption, const topology::Placement& placement, const Picture& picture);

/// SVG 1.1, complete and self-contained: ranks are lanes, sorted by node; columns go from left to right, in rows if
/// they are many; an arrow is a message, as wide as it carries blocks or segments. Beside the arrows, what every rank
/// has then of each segment. Transparent background, colours that are legible on white and on black.
std::string render_svg(const Caption& caption, const topology::Placement& placement, const Picture& picture);

}  // namespace wherry::draw
