#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "draw/picture_layout.hpp"
#include "draw/render.hpp"
#include "draw/svg.hpp"

namespace wherry::draw {
namespace {

using namespace svg;

class Drawing {
 public:
  Drawing(const Caption& caption, const topology::Placement& placement, const Picture& picture)
      : caption_(caption), placement_(placement), picture_(picture), frame_(placement, picture) {
    out_.precision(5);
    open();
    for (int row = 0; row < frame_.rows(); ++row) {
      draw_nodes(row);
      draw_names(row);
      draw_lanes(row);
    }
    // The arrows of one rank last, so that they lie above the others.
    for (const bool marked : {false, true})
      for (int c = 0; c < columns(); ++c) draw_flows(c, marked);
    draw_dots();
    for (int c = 0; c < columns(); ++c) draw_head(c);
    draw_bar_charts(out_, picture_, frame_);
    draw_legend();
    out_ << "</svg>\n";
  }

  std::string text() && { return std::move(out_).str(); }

 private:
  int columns() const { return static_cast<int>(picture_.columns.size()); }
  const Column& column(int c) const { return picture_.columns[static_cast<std::size_t>(c)]; }

  void open() {
    const double width = frame_.width(), height = frame_.height();
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
         << "\" width=\"" << width << "\" height=\"" << height
         << "\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"" << ink
         << "\">\n<title>" << escaped(caption_.title) << "</title>\n<defs>\n";
    for (const char* colour : {within_colour, between_colour, marked_colour})
      out_ << "<marker id=\"" << marker(colour)
           << "\" viewBox=\"0 0 6 6\" refX=\"5.5\" refY=\"3\" markerWidth=\"7\" markerHeight=\"7\""
           << " markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0.4 L6,3 L0,5.6 z\" fill=\""
           << colour << "\"/></marker>\n";
    out_ << "</defs>\n";
    label(16, 28, caption_.title, "font-size=\"17\" font-weight=\"600\"");
    label(16, 48, caption_.subtitle, "");
  }

  static std::string marker(const char* colour) { return std::string("to-") + (colour + 1); }

  void label(double x, double y, std::string_view text, std::string_view attributes) {
    svg::label(out_, x, y, text, attributes);
  }

  void draw_nodes(int row) {
    if (placement_.nodes() == placement_.size()) return;
    for (int node = 0; node < placement_.nodes(); ++node) {
      const double half = frame_.lane() / 2;
      const double top = frame_.y(placement_.members(node).front(), row) - half,
                   bottom = frame_.y(placement_.members(node).back(), row) + half;
      out_ << "<rect x=\"" << 12 << "\" y=\"" << top << "\" width=\"" << frame_.end(row) - 12
           << "\" height=\"" << bottom - top << "\" rx=\"6\" fill=\"" << ink
           << "\" fill-opacity=\"0.09\"/>\n";
      label(20, (top + bottom) / 2 + 4, "node " + std::to_string(node), "font-size=\"11\"");
    }
  }

  void draw_names(int row) {
    const std::string marked = " font-weight=\"600\" fill=\"" + std::string(marked_colour) + '"';
    for (int rank = 0; rank < placement_.size(); ++rank)
      label(frame_.names(), frame_.y(rank, row) + 4, std::to_string(rank),
            "text-anchor=\"end\"" + (rank == picture_.marked ? marked : ""));
  }

  void draw_lanes(int row) {
    for (int rank = 0; rank < placement_.size(); ++rank) {
      const double y = frame_.y(rank, row);
      out_ << "<path d=\"";
      if (!frame_.has_bar_charts()) out_ << 'M' << frame_.margin() << ',' << y << " H" << frame_.end(row);
      // The bar charts interrupt them.
      for (int c = frame_.first_in(row);
           frame_.has_bar_charts() && c < frame_.first_in(row + 1) && c < columns(); ++c)
        out_ << 'M' << frame_.left(c) - 6 << ',' << y << " H" << frame_.right(c) + 6;
      out_ << "\" stroke=\"" << ink << "\" stroke-opacity=\"0.25\"/>\n";
    }
  }

  void draw_dots() {
    out_ << "<g fill=\"" << ink << "\">\n";
    for (int c = 0; c < columns(); ++c)
      for (int rank = 0; rank < placement_.size(); ++rank)
        for (const double x : {frame_.left(c), frame_.right(c)})
          out_ << "<circle cx=\"" << x << "\" cy=\"" << frame_.y(rank, frame_.row_of(c)) << "\" r=\"2\"/>\n";
    out_ << "</g>\n";
  }

  void draw_flows(int c, bool marked) {
    // The more arrows, the fainter: a dense column would be a blot.
    const double crowd = static_cast<double>(column(c).flows.size()) / placement_.size();
    const double opacity = marked ? 0.95 : std::clamp(1.3 / std::sqrt(1 + crowd), 0.22, 0.8);
    out_ << "<g fill=\"none\" stroke-opacity=\"" << opacity << "\">\n";
    for (const Flow& flow : column(c).flows)
      if ((flow.from == picture_.marked) == marked) draw_flow(c, flow);
    out_ << "</g>\n";
  }

  const char* colour_of(const Flow& f) const {
    if (f.from == picture_.marked) return marked_colour;
    return placement_.same_node(f.from, f.to) ? within_colour : between_colour;
  }

  void draw_flow(int c, const Flow& f) {
    const int row = frame_.row_of(c);
    const double x0 = frame_.left(c), x1 = frame_.right(c) - (f.combined ? 5.5 : 3), bend = (x1 - x0) * 0.35;
    const double y0 = frame_.y(f.from, row), y1 = frame_.y(f.to, row);
    const char* colour = colour_of(f);
    out_ << "<path d=\"M" << x0 << ',' << y0 << " C" << x0 + bend << ',' << y0 << ' ' << x1 - bend << ','
         << y1 << ' ' << x1 << ',' << y1 << "\" stroke=\"" << colour << "\" stroke-width=\""
         << std::min(6.0, 0.5 + 0.7 * std::sqrt(std::max(f.carried, 1))) << "\" marker-end=\"url(#"
         << marker(colour) << ")\"><title>" << picture_.time << ' ' << c + 1 << ": rank " << f.from
         << " to rank " << f.to << ", " << what_it_carries(f) << "</title></path>\n";
    if (f.combined) draw_plus(frame_.right(c), y1);
  }

  std::string what_it_carries(const Flow& f) const {
    const std::string thing = std::string(picture_.carried) + (f.carried == 1 ? "" : "s");
    if (f.segments.empty()) return f.carried == 0 ? "empty" : std::to_string(f.carried) + " " + thing;
    return thing + " " + f.segments + (f.combined ? ", combined" : "");
  }

  /// Where it is combined.
  void draw_plus(double x, double y) {
    out_ << "<path d=\"M" << x - 4.5 << ',' << y << "a4.5,4.5 0 1 0 9,0a4.5,4.5 0 1 0 -9,0h9m-4.5,-4.5v9\""
         << " stroke=\"" << combined_colour << "\" stroke-opacity=\"1\" stroke-width=\"1.2\"/>\n";
  }

  void draw_head(int c) {
    const double x = frame_.middle(c), y = frame_.top(frame_.row_of(c));
    const std::string centred = "text-anchor=\"middle\" font-size=\"11\"";
    const int window = column(c).window;
    label(x, y + 18, std::string(picture_.time) + " " + std::to_string(c + 1),
          "text-anchor=\"middle\" font-weight=\"600\"");
    label(x, y + 33, messages_in(column(c)), centred);
    label(x, y + 47,
          carried_in(column(c), picture_.carried) + (window == 0 ? "" : ", window " + std::to_string(window)),
          centred);
  }

  bool carries_several() const {
    const auto several = [](const Flow& f) { return f.carried > 1; };
    return std::ranges::any_of(picture_.columns,
                               [=](const Column& c) { return std::ranges::any_of(c.flows, several); });
  }

  void draw_legend() {
    const double y = frame_.bottom() + 24;
    double x = 16;
    const auto entry = [&](const char* colour, const std::string& text) {
      out_ << "<path d=\"M" << x << ',' << y - 4 << " h22\" stroke=\"" << colour
           << "\" stroke-width=\"2.5\" marker-end=\"url(#" << marker(colour) << ")\"/>\n";
      label(x + 30, y, text, "font-size=\"11\"");
      x += 46 + 6.2 * static_cast<double>(text.size());
    };
    entry(marked_colour, "from rank " + std::to_string(picture_.marked));
    if (placement_.nodes() < placement_.size()) entry(within_colour, "within a node");
    if (placement_.nodes() > 1) entry(between_colour, "between nodes");
    if (carries_several())
      label(x, y, "a wider arrow carries more " + std::string(picture_.carried) + "s", "font-size=\"11\"");
    explain_bar_charts(out_, picture_, 16, y + 20);
  }

  const Caption& caption_;
  const topology::Placement& placement_;
  const Picture& picture_;
  Frame frame_;
  std::ostringstream out_;
};

}  // namespace

std::string render_svg(const Caption& caption, const topology::Placement& placement, const Picture& picture) {
  require(placement.size() <= most_drawn, "a picture holds at most 128 ranks; draw fewer");
  return Drawing(caption, placement, picture).text();
}

}  // namespace wherry::draw
