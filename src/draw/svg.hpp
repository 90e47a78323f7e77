// Words and colours of SVG pictures.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "draw/picture.hpp"
#include "draw/picture_layout.hpp"

namespace wherry::draw::svg {

// Middle tones: contrast of at least 3 with white and with near-black, so one picture serves both.
inline constexpr const char* ink = "#747c8b";
inline constexpr const char* within_colour = "#1a9a78";
inline constexpr const char* between_colour = "#4a86d8";
inline constexpr const char* marked_colour = "#e0662b";
inline constexpr const char* replaced_colour = "#b98a1c";
inline constexpr const char* combined_colour = "#a463d8";

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';  // no control character is legal in XML 1.0 text
    else out += c;
  }
  return out;
}

inline void label(std::ostream& out, double x, double y, std::string_view text, std::string_view attributes) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" " << attributes << '>' << escaped(text) << "</text>\n";
}

}  // namespace wherry::draw::svg

namespace wherry::draw {

// What every rank has of each segment, beside the arrows of a picture.

/// The bar charts after all columns, and before the first of each row. A bar is a segment, as high as the share of the
/// ranks whose data is in it; what has just come stands out, and is named where there is room.
void draw_bar_charts(std::ostream& out, const Picture& picture, const Frame& frame);

/// What the bars and their colours mean, from x on.
void explain_bar_charts(std::ostream& out, const Picture& picture, double x, double y);

}  // namespace wherry::draw
