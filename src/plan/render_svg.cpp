#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "plan/flows.hpp"
#include "plan/render.hpp"

namespace wherry::plan {
namespace {

// Middle tones: contrast of at least 3.5 with white and with near-black, so one picture serves both.
constexpr const char* ink = "#747c8b";
constexpr const char* within_colour = "#1a9a78";
constexpr const char* between_colour = "#4a86d8";
constexpr const char* first_colour = "#e0662b";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if (static_cast<unsigned char>(c) < 0x20) out += ' ';  // no control character is legal in XML 1.0 text
    else out += c;
  }
  return out;
}

/// Where everything is, in pixels.
class Frame {
 public:
  Frame(const Shape& shape, std::size_t columns) : columns_(static_cast<double>(columns)), lane_(shape.size() <= 40 ? 24 : 14) {
    y_of_.resize(static_cast<std::size_t>(shape.size()));
    double y = top;
    for (int node = 0; node < shape.nodes(); ++node) {
      for (const int rank : shape.members(node)) {
        y_of_[static_cast<std::size_t>(rank)] = y + lane_ / 2;
        y += lane_;
      }
      if (shape.nodes() < shape.size()) y += node_gap;
    }
    bottom_ = y;
    // Dense phases need room to tell arrows apart; many phases have few arrows each.
    column_ = columns <= 4 ? std::max(170.0, 11.0 * shape.size()) : 150;
  }

  double y(int rank) const { return y_of_[static_cast<std::size_t>(rank)]; }
  double left(std::size_t column) const { return margin + column_ * static_cast<double>(column) + 14; }
  double right(std::size_t column) const { return margin + column_ * static_cast<double>(column + 1) - 14; }
  double middle(std::size_t column) const { return (left(column) + right(column)) / 2; }
  double end() const { return margin + column_ * columns_; }
  double width() const { return std::max(end() + 24, 620.0); }
  double bottom() const { return bottom_; }
  double height() const { return bottom_ + 44; }
  double lane() const { return lane_; }

  static constexpr double margin = 96;  // left of the lanes: names of ranks and nodes
  static constexpr double top = 116;    // above the lanes: caption and phases

 private:
  static constexpr double node_gap = 10;
  double columns_;
  double lane_;
  double column_ = 0;
  double bottom_ = 0;
  std::vector<double> y_of_;
};

class Drawing {
 public:
  Drawing(const Caption& caption, const Shape& shape, std::vector<Column> columns)
      : caption_(caption), shape_(shape), columns_(std::move(columns)), frame_(shape, columns_.size()) {
    out_.precision(5);
    open();
    draw_nodes();
    draw_lanes();
    // Rank 0's arrows last, so that they lie above the others.
    for (const bool of_first : {false, true})
      for (const Column& column : columns_) draw_flows(column, of_first);
    draw_dots();
    for (std::size_t c = 0; c < columns_.size(); ++c) draw_head(c);
    draw_legend();
    out_ << "</svg>\n";
  }

  std::string text() && { return std::move(out_).str(); }

 private:
  void open() {
    const double width = frame_.width(), height = frame_.height();
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\"" << width
         << "\" height=\"" << height << "\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"" << ink
         << "\">\n<title>" << escaped(caption_.title) << "</title>\n<defs>\n";
    for (const char* colour : {within_colour, between_colour, first_colour})
      out_ << "<marker id=\"" << marker(colour) << "\" viewBox=\"0 0 6 6\" refX=\"5.5\" refY=\"3\" markerWidth=\"7\" markerHeight=\"7\""
           << " markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0.4 L6,3 L0,5.6 z\" fill=\"" << colour << "\"/></marker>\n";
    out_ << "</defs>\n";
    label(16, 28, caption_.title, "font-size=\"17\" font-weight=\"600\"");
    label(16, 48, caption_.subtitle, "");
  }

  static std::string marker(const char* colour) { return std::string("to-") + (colour + 1); }

  void label(double x, double y, std::string_view text, std::string_view attributes) {
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" " << attributes << '>' << escaped(text) << "</text>\n";
  }

  void draw_nodes() {
    if (shape_.nodes() == shape_.size()) return;
    for (int node = 0; node < shape_.nodes(); ++node) {
      const double half = frame_.lane() / 2;
      const double top = frame_.y(shape_.members(node).front()) - half, bottom = frame_.y(shape_.members(node).back()) + half;
      out_ << "<rect x=\"" << 12 << "\" y=\"" << top << "\" width=\"" << frame_.end() - 12 << "\" height=\"" << bottom - top
           << "\" rx=\"6\" fill=\"" << ink << "\" fill-opacity=\"0.09\"/>\n";
      label(20, (top + bottom) / 2 + 4, "node " + std::to_string(node), "font-size=\"11\"");
    }
  }

  void draw_lanes() {
    for (int rank = 0; rank < shape_.size(); ++rank) {
      const double y = frame_.y(rank);
      label(Frame::margin - 6, y + 4, std::to_string(rank),
            rank == 0 ? "text-anchor=\"end\" font-weight=\"600\" fill=\"" + std::string(first_colour) + '"' : "text-anchor=\"end\"");
      out_ << "<path d=\"M" << Frame::margin << ',' << y << " H" << frame_.end() << "\" stroke=\"" << ink
           << "\" stroke-opacity=\"0.25\"/>\n";
    }
  }

  void draw_dots() {
    out_ << "<g fill=\"" << ink << "\">\n";
    for (std::size_t c = 0; c < columns_.size(); ++c)
      for (int rank = 0; rank < shape_.size(); ++rank)
        for (const double x : {frame_.left(c), frame_.right(c)})
          out_ << "<circle cx=\"" << x << "\" cy=\"" << frame_.y(rank) << "\" r=\"2\"/>\n";
    out_ << "</g>\n";
  }

  void draw_flows(const Column& column, bool of_first) {
    // The more arrows, the fainter: a dense phase would be a blot.
    const double crowd = static_cast<double>(column.flows.size()) / shape_.size();
    const double opacity = of_first ? 0.95 : std::clamp(1.3 / std::sqrt(1 + crowd), 0.22, 0.8);
    out_ << "<g fill=\"none\" stroke-opacity=\"" << opacity << "\">\n";
    for (const Flow& flow : column.flows)
      if ((flow.from == 0) == of_first) draw_flow(flow);
    out_ << "</g>\n";
  }

  void draw_flow(const Flow& f) {
    const auto column = static_cast<std::size_t>(f.column);
    const double x0 = frame_.left(column), x1 = frame_.right(column) - 3, bend = (x1 - x0) * 0.35;
    const char* colour = f.from == 0 ? first_colour : shape_.same_node(f.from, f.to) ? within_colour : between_colour;
    out_ << "<path d=\"M" << x0 << ',' << frame_.y(f.from) << " C" << x0 + bend << ',' << frame_.y(f.from) << ' ' << x1 - bend
         << ',' << frame_.y(f.to) << ' ' << x1 << ',' << frame_.y(f.to) << "\" stroke=\"" << colour << "\" stroke-width=\""
         << std::min(6.0, 0.5 + 0.7 * std::sqrt(f.blocks)) << "\" marker-end=\"url(#" << marker(colour) << ")\"><title>phase "
         << f.column + 1 << ": rank " << f.from << " to rank " << f.to << ", " << f.blocks
         << (f.blocks == 1 ? " block" : " blocks") << "</title></path>\n";
  }

  void draw_head(std::size_t c) {
    const double x = frame_.middle(c);
    const std::string centred = "text-anchor=\"middle\" font-size=\"11\"";
    label(x, 76, "phase " + std::to_string(c + 1), "text-anchor=\"middle\" font-weight=\"600\"");
    label(x, 91, columns_[c].messages(), centred);
    const std::string window = columns_[c].window == 0 ? "" : ", window " + std::to_string(columns_[c].window);
    label(x, 105, columns_[c].blocks() + window, centred);
  }

  void draw_legend() {
    const double y = frame_.bottom() + 24;
    double x = 16;
    const auto entry = [&](const char* colour, std::string_view text) {
      out_ << "<path d=\"M" << x << ',' << y - 4 << " h22\" stroke=\"" << colour << "\" stroke-width=\"2.5\" marker-end=\"url(#"
           << marker(colour) << ")\"/>\n";
      label(x + 30, y, text, "font-size=\"11\"");
      x += 46 + 6.2 * static_cast<double>(text.size());
    };
    entry(first_colour, "from rank 0");
    if (shape_.nodes() < shape_.size()) entry(within_colour, "within a node");
    if (shape_.nodes() > 1) entry(between_colour, "between nodes");
    label(x, y, "a wider arrow carries more blocks", "font-size=\"11\"");
  }

  const Caption& caption_;
  const Shape& shape_;
  std::vector<Column> columns_;
  Frame frame_;
  std::ostringstream out_;
};

}  // namespace

std::string render_svg(const Caption& caption, const Shape& shape, std::span<const Schedule> schedules) {
  require(shape.size() <= most_drawn, "a picture holds at most 128 ranks; draw fewer");
  return Drawing(caption, shape, columns_of_flows(schedules)).text();
}

}  // namespace wherry::plan
