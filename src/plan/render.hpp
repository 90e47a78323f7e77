// Pictures of the schedules of all ranks: who sends how many blocks to whom, phase by phase.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/schedule.hpp"
#include "plan/shape.hpp"

namespace wherry::plan {

/// More ranks than this cannot be told apart in a picture.
inline constexpr int most_drawn = 128;

/// What stands above the picture; any text.
struct Caption {
  std::string_view title;
  std::string_view subtitle;
};

/// Plain text: per phase, a line per sending rank with its receivers and the blocks for each.
/// The schedules must be valid (verify) and at most `most_drawn`; else schedule_error or usage_error.
std::string render_text(const Caption& caption, const Shape& shape, std::span<const Schedule> schedules);

/// SVG 1.1, complete and self-contained: ranks are lanes, sorted by node; phases are columns; an arrow is
/// a message, as wide as it carries blocks. Transparent background, colours that are legible on white and
/// on black.
std::string render_svg(const Caption& caption, const Shape& shape, std::span<const Schedule> schedules);

}  // namespace wherry::plan
