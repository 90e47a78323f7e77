#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "plan/arithmetic.hpp"
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
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';  // no control character is legal in XML 1.0 text
    else out += c;
  }
  return out;
}

/// Where everything is, in pixels. Many phases are set in rows, like lines of text.
class Frame {
 public:
  Frame(const Shape& shape, int columns)
      : columns_(columns),
        rows_(columns <= 8 ? 1 : ceil_div(columns, 6)),
        lane_(shape.size() <= 40 ? 24 : 14) {
    per_row_ = ceil_div(std::max(columns, 1), rows_);
    y_of_.resize(static_cast<std::size_t>(shape.size()));
    double y = 0;
    for (int node = 0; node < shape.nodes(); ++node) {
      for (const int rank : shape.members(node)) {
        y_of_[static_cast<std::size_t>(rank)] = y + lane_ / 2;
        y += lane_;
      }
      if (shape.nodes() < shape.size()) y += node_gap;
    }
    row_ = y + head;
    // Dense phases need room to tell arrows apart; many phases have few arrows each.
    column_ = columns == 1   ? std::max(360.0, 14.0 * shape.size())
              : columns <= 4 ? std::max(170.0, 11.0 * shape.size())
                             : 150;
  }

  int rows() const { return rows_; }
  int row_of(int column) const { return column / per_row_; }
  int columns_in(int row) const { return std::min(per_row_, columns_ - row * per_row_); }
  double top(int row) const { return caption + row_ * row; }
  double y(int rank, int row) const { return top(row) + head + y_of_[static_cast<std::size_t>(rank)]; }
  double left(int column) const { return margin + column_ * (column % per_row_) + 14; }
  double right(int column) const { return left(column) + column_ - 28; }
  double middle(int column) const { return (left(column) + right(column)) / 2; }
  double end(int row) const { return margin + column_ * columns_in(row); }
  double width() const { return std::max(end(0) + 24, 620.0); }
  double bottom() const { return top(rows_); }
  double height() const { return bottom() + 44; }
  double lane() const { return lane_; }

  static constexpr double margin = 96;  // left of the lanes: names of ranks and nodes

 private:
  static constexpr double caption = 58;
  static constexpr double head = 58;  // above the lanes of a row: phases
  static constexpr double node_gap = 10;
  int columns_;
  int rows_;
  int per_row_ = 1;
  double lane_;
  double row_ = 0;
  double column_ = 0;
  std::vector<double> y_of_;
};

class Drawing {
 public:
  Drawing(const Caption& caption, const Shape& shape, std::vector<Column> columns)
      : caption_(caption),
        shape_(shape),
        columns_(std::move(columns)),
        frame_(shape, static_cast<int>(columns_.size())) {
    out_.precision(5);
    open();
    for (int row = 0; row < frame_.rows(); ++row) {
      draw_nodes(row);
      draw_lanes(row);
    }
    // Rank 0's arrows last, so that they lie above the others.
    for (const bool of_first : {false, true})
      for (const Column& column : columns_) draw_flows(column, of_first);
    draw_dots();
    for (int c = 0; c < static_cast<int>(columns_.size()); ++c)
      draw_head(c, columns_[static_cast<std::size_t>(c)]);
    draw_legend();
    out_ << "</svg>\n";
  }

  std::string text() && { return std::move(out_).str(); }

 private:
  void open() {
    const double width = frame_.width(), height = frame_.height();
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
         << "\" width=\"" << width << "\" height=\"" << height
         << "\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"" << ink
         << "\">\n<title>" << escaped(caption_.title) << "</title>\n<defs>\n";
    for (const char* colour : {within_colour, between_colour, first_colour})
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
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" " << attributes << '>' << escaped(text) << "</text>\n";
  }

  void draw_nodes(int row) {
    if (shape_.nodes() == shape_.size()) return;
    for (int node = 0; node < shape_.nodes(); ++node) {
      const double half = frame_.lane() / 2;
      const double top = frame_.y(shape_.members(node).front(), row) - half,
                   bottom = frame_.y(shape_.members(node).back(), row) + half;
      out_ << "<rect x=\"" << 12 << "\" y=\"" << top << "\" width=\"" << frame_.end(row) - 12
           << "\" height=\"" << bottom - top << "\" rx=\"6\" fill=\"" << ink
           << "\" fill-opacity=\"0.09\"/>\n";
      label(20, (top + bottom) / 2 + 4, "node " + std::to_string(node), "font-size=\"11\"");
    }
  }

  void draw_lanes(int row) {
    for (int rank = 0; rank < shape_.size(); ++rank) {
      const double y = frame_.y(rank, row);
      label(Frame::margin - 6, y + 4, std::to_string(rank),
            rank == 0 ? "text-anchor=\"end\" font-weight=\"600\" fill=\"" + std::string(first_colour) + '"'
                      : "text-anchor=\"end\"");
      out_ << "<path d=\"M" << Frame::margin << ',' << y << " H" << frame_.end(row) << "\" stroke=\"" << ink
           << "\" stroke-opacity=\"0.25\"/>\n";
    }
  }

  void draw_dots() {
    out_ << "<g fill=\"" << ink << "\">\n";
    for (int c = 0; c < static_cast<int>(columns_.size()); ++c)
      for (int rank = 0; rank < shape_.size(); ++rank)
        for (const double x : {frame_.left(c), frame_.right(c)})
          out_ << "<circle cx=\"" << x << "\" cy=\"" << frame_.y(rank, frame_.row_of(c)) << "\" r=\"2\"/>\n";
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
    const int row = frame_.row_of(f.column);
    const double x0 = frame_.left(f.column), x1 = frame_.right(f.column) - 3, bend = (x1 - x0) * 0.35;
    const double y0 = frame_.y(f.from, row), y1 = frame_.y(f.to, row);
    const char* colour = f.from == 0                      ? first_colour
                         : shape_.same_node(f.from, f.to) ? within_colour
                                                          : between_colour;
    out_ << "<path d=\"M" << x0 << ',' << y0 << " C" << x0 + bend << ',' << y0 << ' ' << x1 - bend << ','
         << y1 << ' ' << x1 << ',' << y1 << "\" stroke=\"" << colour << "\" stroke-width=\""
         << std::min(6.0, 0.5 + 0.7 * std::sqrt(f.blocks)) << "\" marker-end=\"url(#" << marker(colour)
         << ")\"><title>phase " << f.column + 1 << ": rank " << f.from << " to rank " << f.to << ", "
         << f.blocks << (f.blocks == 1 ? " block" : " blocks") << "</title></path>\n";
  }

  void draw_head(int c, const Column& column) {
    const double x = frame_.middle(c), y = frame_.top(frame_.row_of(c));
    const std::string centred = "text-anchor=\"middle\" font-size=\"11\"";
    const std::string window = column.window == 0 ? "" : ", window " + std::to_string(column.window);
    label(x, y + 18, "phase " + std::to_string(c + 1), "text-anchor=\"middle\" font-weight=\"600\"");
    label(x, y + 33, column.messages(), centred);
    label(x, y + 47, column.blocks() + window, centred);
  }

  void draw_legend() {
    const double y = frame_.bottom() + 24;
    double x = 16;
    const auto entry = [&](const char* colour, std::string_view text) {
      out_ << "<path d=\"M" << x << ',' << y - 4 << " h22\" stroke=\"" << colour
           << "\" stroke-width=\"2.5\" marker-end=\"url(#" << marker(colour) << ")\"/>\n";
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
